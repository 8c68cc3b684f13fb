import { fromDigestMessage } from "#cas/digest-message.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { type Digest, type DigestFunction, digestKey, functionOf } from "#core/digest.ts";

/** A path at which two input trees differ. */
interface InputDifference {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
}

export interface InputComparison {
  readonly differences: readonly InputDifference[];
  /** Whether the comparison ended at a limit, so that there may be more differences. */
  readonly isCut: boolean;
}

/** Directories read for one comparison. Equal ones are not read. */
const mostDirectories = 2_000;

/** Compares two input trees. Reads only directories that differ. */
export async function compareInputs(
  read: (digest: Digest) => Promise<Uint8Array>,
  before: Digest,
  after: Digest,
  most: number,
): Promise<InputComparison> {
  const differences: InputDifference[] = [];
  const pending = [{ path: "", before, after }];
  let reads = 0;
  for (let pair = pending.shift(); pair !== undefined; pair = pending.shift()) {
    if (differences.length >= most || reads >= mostDirectories) {
      return { differences: differences.slice(0, most), isCut: true };
    }
    reads += 2;
    const old = childrenOf(await read(pair.before), functionOf(pair.before));
    const now = childrenOf(await read(pair.after), functionOf(pair.after));
    for (const name of [...new Set([...old.keys(), ...now.keys()])].toSorted()) {
      const path = pair.path === "" ? name : `${pair.path}/${name}`;
      const [was, is] = [old.get(name), now.get(name)];
      if (was?.content === is?.content) continue;
      if (was?.directory !== undefined && is?.directory !== undefined) {
        pending.push({ path, before: was.directory, after: is.directory });
      } else {
        const change = was === undefined ? "added" : is === undefined ? "removed" : "changed";
        differences.push({ path, change });
      }
    }
  }
  return { differences: differences.slice(0, most), isCut: differences.length > most };
}

interface Child {
  /** Equal texts mean equal children. */
  readonly content: string;
  readonly directory?: Digest;
}

function childrenOf(bytes: Uint8Array, by: DigestFunction): Map<string, Child> {
  const { files, directories, symlinks } = decodeDirectory(bytes);
  const children = new Map<string, Child>();
  for (const { name, digest, isExecutable } of files) {
    const content = digestKey(fromDigestMessage(digest, name, by));
    children.set(name, { content: `file ${content} ${isExecutable}` });
  }
  for (const { name, digest } of directories) {
    const directory = fromDigestMessage(digest, name, by);
    children.set(name, { content: `directory ${digestKey(directory)}`, directory });
  }
  for (const { name, target } of symlinks) children.set(name, { content: `link ${target}` });
  return children;
}
