/** A commit to be made: all files that it has, not only those that changed. */
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

/** Always the same, so that the same versions make the same commits everywhere. */
const identity = "Grange Example <example@grange.invalid>";

/** The stream that `git fast-import` makes a branch of commits and their tags from. */
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

/** Quoted as C does it, as fast-import wants paths with anything unusual in them. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, (character) => `\\${character}`)}"`;
}
