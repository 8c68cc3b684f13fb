/** A commit to create: all its files, not only the changed ones. */
export interface NewCommit {
  /** `Name <address>`; the identity of examples when absent. */
  readonly author?: string;
  readonly message: string;
  readonly tag?: string;
  readonly date: Date;
  readonly files: readonly NewFile[];
}

export interface NewFile {
  readonly path: string;
  readonly isExecutable: boolean;
  readonly bytes: Uint8Array;
}

/** Always the same, so that the same versions result in the same commits everywhere. */
const identity = "Grange Example <example@grange.invalid>";

/** Yields the stream from which `git fast-import` creates a branch of commits and their tags. */
export async function* fastImportStream(
  commits: AsyncIterable<NewCommit>,
): AsyncGenerator<Uint8Array> {
  let mark = 0;
  for await (const { author = identity, message, tag, date, files } of commits) {
    mark += 1;
    const when = `${author} ${Math.floor(date.getTime() / 1_000)} +0000`;
    yield Buffer.from(`commit refs/heads/main\nmark :${mark}\nauthor ${when}\ncommitter ${when}\n`);
    yield data(Buffer.from(`${message}\n`));
    if (mark > 1) yield Buffer.from(`from :${mark - 1}\ndeleteall\n`);
    for (const { path, isExecutable, bytes } of files) {
      yield Buffer.from(`M ${isExecutable ? "100755" : "100644"} inline ${quoted(path)}\n`);
      yield data(bytes);
    }
    if (tag !== undefined) yield Buffer.from(`reset refs/tags/${tag}\nfrom :${mark}\n\n`);
  }
  yield Buffer.from("done\n");
}

function data(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from("\n")]);
}

/** Quotes a path as in C, which fast-import requires for paths with unusual characters. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, (character) => `\\${character}`)}"`;
}
