import { setImmediate as nextTurn } from 'node:timers/promises'
import { FileRefusedError } from '../lib/errors.ts'
import { IdTableBuilder, openTextHash } from './id-table.ts'
import type { JudgeOptions, PassResult } from './judge-model.ts'
import { JudgePass } from './judge-pass.ts'
import type { Dialect } from './model.ts'
import { readTexts } from './text.ts'

/** Reads the file in one dialect. Gives way to the event loop after every batch: a few milliseconds of work. */
export async function runPass(
  options: JudgeOptions,
  dialect: Dialect,
  onRaw?: (chunk: Buffer) => void,
): Promise<PassResult> {
  const pass = new JudgePass(options, dialect, {
    ids: await IdTableBuilder.open(),
    hash: await openTextHash(),
  })
  const result = await readAll(pass, options, { dialect, onRaw }).then(
    () => pass.finish(),
    (error: unknown) => {
      if (!(error instanceof FileRefusedError && pass.forgetKnown())) throw error
    },
  )
  return result ?? (await runPass({ ...options, openKnown: undefined }, dialect))
}

async function readAll(
  pass: JudgePass,
  options: JudgeOptions,
  { dialect, onRaw }: { dialect: Dialect; onRaw: ((chunk: Buffer) => void) | undefined },
): Promise<void> {
  for await (const { name, chunks, places } of readTexts(options, dialect, onRaw)) {
    using splitter = pass.beginText(name)
    for await (const chunk of chunks) {
      for (const batch of splitter.push(chunk)) {
        if (batch.length > 0) await pass.take(batch, places)
        if (pass.isScanned) return
        await nextTurn()
      }
    }
    for (const batch of splitter.end()) await pass.take(batch)
    pass.endText(splitter)
  }
}
