import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { codeFolder } from '../src/cli/code-cache.ts'

/** Folders whose files wait for real processes, the longest first. */
const slowFolders = [
  'fault',
  'acceptance',
  'bad-input',
  'quickstart',
  'consents',
  'packaging',
  'fuzz',
  'redis',
]

/** Begins with the slow files, so that the last worker is not left alone with one of them. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => slowness(other) - slowness(one))
  }
}

function slowness({ moduleId }: TestSpecification): number {
  const index = slowFolders.findIndex((folder) => moduleId.includes(`/test/${folder}/`))
  return index === -1 ? 0 : slowFolders.length - index
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    sequence: { sequencer: SlowFirst },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The hundreds of commands that tests start need not strip the same files of their types again and again.
    env: { NODE_COMPILE_CACHE: codeFolder() },
    // Many files wait for other processes most of the time, so two cores have work for more than two workers. A process
    // for each file would load the same modules three hundred times.
    maxWorkers: 4,
    isolate: false,
  },
})
