import type { PartFile } from './part-file.ts'
import type { RemoteFile } from './pull-state.ts'

/** A folder on a server, while it is connected to. Every failure is a PullError. */
export interface RemoteFolder extends AsyncDisposable {
  /** Regular files, in no order. */
  list(): Promise<RemoteFile[]>
  /** As it is now; undefined when it is gone. */
  look(name: string): Promise<RemoteFile | undefined>
  download(file: RemoteFile, part: PartFile): Promise<void>
  delete(name: string): Promise<void>
  /** `otherName` where the name is taken there. */
  move(name: string, target: { to: string; otherName: string }): Promise<void>
}
