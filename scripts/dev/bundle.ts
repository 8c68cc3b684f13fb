import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { context, formatMessages, type Message } from "esbuild";
import { packagesOf } from "./packages-of.ts";

type BuildResult =
  | { readonly kind: "built"; readonly packages: readonly string[] }
  | { readonly kind: "same" }
  | { readonly kind: "failed"; readonly message: string };

export interface Bundle {
  /** Builds the program again, and writes it if it has changed. */
  rebuild(): Promise<BuildResult>;
  stop(): Promise<void>;
}

/**
 * Opens one program as a single file of Grange's own code. Packages stay outside: bundling them costs more at each
 * build than loading them, which `standby.mjs` does in advance.
 */
export async function openBundle(options: {
  readonly root: string;
  readonly source: string;
  readonly file: string;
  readonly define: Readonly<Record<string, string>>;
}): Promise<Bundle> {
  const { root, source, file, define } = options;
  const building = await context({
    absWorkingDir: root,
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    outfile: file,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20.19",
    format: "esm",
    // Line numbers in stack traces are worth 50 ms; the text of the sources is on disk.
    sourcemap: "inline",
    sourcesContent: false,
    define: { ...define },
    write: false,
    logLevel: "silent",
  });
  let written = "";
  return {
    async rebuild() {
      try {
        const { outputFiles } = await building.rebuild();
        const output = outputFiles.find(({ path }) => path === file);
        if (output === undefined || output.hash === written) return { kind: "same" };
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, output.contents);
        written = output.hash;
        return { kind: "built", packages: packagesOf(output.text) };
      } catch (cause) {
        return { kind: "failed", message: await textOf(cause) };
      }
    },
    stop: () => building.dispose(),
  };
}

async function textOf(cause: unknown): Promise<string> {
  const errors = (cause as { errors?: Message[] }).errors;
  if (errors === undefined) return String(cause);
  return (await formatMessages(errors, { kind: "error", color: false })).join("").trim();
}
