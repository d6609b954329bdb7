# Build: the whole tree of packages, TypeScript to JavaScript, then the development packages go.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The image brings Node 24; the install script that would fetch the pinned one is not run.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY .ci .ci
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
# For runs without REDIS_URL, where catalogd keeps a redis-server of its own under its state folder.
RUN apt-get update \
  && apt-get install -y --no-install-recommends redis-server \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/catalogd
COPY package.json LICENSE CHANGELOG.md ./
# What comes with catalogd, and nothing else: a configuration beside it, and its secrets, are no part of the image.
COPY config/catalogd.example.yaml config/catalogd.schema.json config/headers.yaml config/
COPY config/presets config/presets
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN ln -s /opt/catalogd/dist/main.js /usr/local/bin/catalogd \
  && install -d -o node -g node /srv/catalogd /srv/catalogd/config /srv/catalogd/drop /srv/catalogd/state

WORKDIR /srv/catalogd
USER node
# Feed files come in through drop; state is what must survive and be backed up: the catalog, consents, manifest, archive.
VOLUME ["/srv/catalogd/drop", "/srv/catalogd/state"]
# Whether the process answers, on the console's usual port. A Redis that is away is no reason to start again.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8480/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Running calls are finished before the process ends, at most 10 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["catalogd"]
CMD ["start"]
