import { measureDrain } from '../drain.ts'
import type { Figure } from './figure.ts'

/** Acknowledgements out of Redis into the mirror; the goal is for a million, so the value is told for a million. */
export async function measureDrainOf(products: number): Promise<Figure[]> {
  const { seconds, cpuSeconds, redisCpuSeconds } = await measureDrain(products)
  return [
    {
      ...{ id: 'drain', name: 'drain of a million acknowledgements', unit: 's', better: 'less', goal: 10 },
      value: (seconds * 1e6) / products,
      ours: { seconds, cpuSeconds, redisCpuSeconds },
      note: `measured with ${products}`,
    },
  ]
}
