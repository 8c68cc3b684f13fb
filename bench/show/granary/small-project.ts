import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sh } from "./project.ts";

/** Builds in half a second, and has a few hundred kilobytes of results: for hundreds of faults. */
export interface SmallProject {
  readonly path: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  clean(): Promise<void>;
  /** Returns a digest of the outputs. */
  product(): string;
}

const files = 12;
/** Text that compresses to about a half: ccache compresses its results. */
const textLength = 60_000;

const makefile = `SOURCES := $(wildcard *.c)
OBJECTS := $(SOURCES:%.c=build/%.o)
build/app: $(OBJECTS)
\tgcc -o $@ $(OBJECTS)
build/%.o: %.c
\t@mkdir -p build
\tccache gcc -c $< -o $@
`;

/** C with make and ccache, whose only cache is its remote one. */
export async function smallProject(work: string): Promise<SmallProject> {
  const path = join(work, "small-project");
  await mkdir(path, { recursive: true });
  const numbers = Array.from({ length: files }, (_, n) => n);
  for (const n of numbers) {
    await writeFile(
      join(path, `part${n}.c`),
      `char text${n}[] = "${noise(n)}";\nint part${n}(int i) { return text${n}[i]; }\n`,
    );
  }
  const declared = numbers.map((n) => `int part${n}(int);\n`).join("");
  const sum = numbers.map((n) => `part${n}(${n})`).join(" + ");
  await writeFile(join(path, "main.c"), `${declared}int main(void) { return (${sum}) & 1; }\n`);
  await writeFile(join(path, "Makefile"), makefile);
  await writeFile(join(path, ".gitignore"), "build/\n");
  const as = "-c user.name=show -c user.email=show@example.org";
  sh(path, `git init -q -b main && git add -A && git ${as} commit -q -m 'commit 0'`);
  return {
    path,
    command: ["make", "-s", "-j2"],
    env: {
      CCACHE_DIR: join(work, "small-ccache"),
      CCACHE_REMOTE_ONLY: "true",
      CCACHE_COMPILERCHECK: "mtime",
    },
    clean: () => rm(join(path, "build"), { recursive: true, force: true }),
    product: () => sh(path, "cat build/*.o build/app | sha256sum"),
  };
}

function noise(seed: number): string {
  let text = "";
  for (let n = 0; text.length < textLength; n++) {
    text += createHash("sha256").update(`${seed} ${n}`).digest("hex");
  }
  return text;
}
