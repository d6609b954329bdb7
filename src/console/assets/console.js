// Makes the page follow what happens. Without it every page and form works as well, and stays as it was loaded.

/* global Idiomorph, uPlot */

const main = document.querySelector('main[data-every]')
const connection = document.getElementById('connection')

const charts = {
  rate: (one) => [one.productsPerSecond, one.callsPerSecond],
  lag: ({ oldestMs }) => [oldestMs.urgent / 1000, oldestMs.new / 1000, oldestMs.deferred / 1000],
  fill: ({ fill }) => [fill === null ? null : fill * 100],
  errors: ({ errors }) => [errors],
}
const samplesMax = 360
const shownS = 1_800
let samples = []
let drawn = new Map()

if (main) follow()

function follow() {
  const events = new EventSource(location.href)
  events.addEventListener('page', ({ data }) => show(data))
  events.addEventListener('samples', ({ data }) => {
    samples = [...samples, ...JSON.parse(data)].slice(-samplesMax)
    draw()
  })
  events.addEventListener('open', () => {
    samples = []
    connection.textContent = ''
  })
  events.addEventListener('error', () => {
    connection.textContent = 'The connection to catalogd is lost; this page shows how it was. Trying again.'
    // The session has ended, or the server is not there: what a browser does not try again by itself.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3_000)
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  addEventListener('resize', redraw)
}

/** What somebody opened, chose or wrote stays; only what differs is changed, so the focus stays, too. */
function show(content) {
  Idiomorph.morph(main, content, {
    morphStyle: 'innerHTML',
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed: (node) => !isKept(node),
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.localName === 'details'),
      beforeNodeRemoved: (node) => !node.parentElement?.closest('.chart'),
    },
  })
  draw()
}

function isKept(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return false
  return node.matches('.chart') || node.matches('input:not([type=hidden]), select')
}

function redraw() {
  for (const { plot } of drawn.values()) plot.destroy()
  drawn = new Map()
  draw()
}

function draw() {
  for (const place of document.querySelectorAll('.chart')) {
    const valuesOf = charts[place.dataset.chart]
    const lines = place.dataset.lines.split(',')
    const columns = lines.map((_, index) => samples.map((sample) => valuesOf(sample)[index]))
    const data = [samples.map(({ atMs }) => atMs / 1000), ...columns]
    const known = drawn.get(place.id)
    if (known?.place === place) known.plot.setData(data)
    else drawn.set(place.id, { place, plot: plotOf(place, lines, data) })
  }
}

function plotOf(place, lines, data) {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)
  const axis = { stroke: color('quiet'), grid: { stroke: color('line'), width: 0.5 }, ticks: { show: false } }
  const x = { range: () => [Date.now() / 1000 - shownS, Date.now() / 1000] }
  const y = { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] }
  const options = {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [8, 24, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: { x, y },
    axes: [
      { ...axis, size: 28, values: (_plot, times) => times.map(timeOfDay) },
      { ...axis, size: 56 },
    ],
    // Told apart without their colours, too.
    series: [
      {},
      ...lines.map((name, index) => ({
        stroke: color(name),
        width: 2,
        dash: [[], [6, 3], [2, 3]][index],
        points: { show: false },
      })),
    ],
  }
  return new uPlot(options, data, place)
}

function timeOfDay(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}
