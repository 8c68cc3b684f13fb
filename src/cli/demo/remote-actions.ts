/** An action of the demo's remote build; its inputs are files of the commit and outputs of other actions. */
export interface PlannedAction {
  readonly mnemonic: string;
  readonly target: string;
  /** A command line for `/bin/sh`. */
  readonly script: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** The files that `js/main.mjs` reads at run time. */
const isModule = (file: string) => /^js\/.*\.mjs$/.test(file) || file === "package.json";

/**
 * Plans the remote build of the demo project: a concordance of each text, their index and, with a compiler, the C
 * library. An action follows the actions whose outputs it reads.
 */
export function planRemoteBuild(
  files: readonly string[],
  { hasCompiler }: { readonly hasCompiler: boolean },
): PlannedAction[] {
  return [...concordances(files), ...(hasCompiler ? library(files) : [])];
}

function concordances(files: readonly string[]): PlannedAction[] {
  const texts = files.flatMap((file) => /^texts\/(.*)\.txt$/.exec(file)?.[1] ?? []);
  const pages = texts.map((text): PlannedAction => {
    const output = `concordances/${text}/words.html`;
    return {
      mnemonic: "Concordance",
      target: `//texts:${text}`,
      script: `node js/main.mjs --format html texts/${text}.txt > ${output}`,
      inputs: [...files.filter(isModule), `texts/${text}.txt`],
      outputs: [output],
    };
  });
  const index: PlannedAction = {
    mnemonic: "Index",
    target: "//texts:index",
    script: "node tools/make-index.mjs concordances",
    inputs: ["tools/make-index.mjs", "package.json", ...pages.flatMap(({ outputs }) => outputs)],
    outputs: ["concordances/index.html"],
  };
  return [...pages, index];
}

function library(files: readonly string[]): PlannedAction[] {
  const headers = files.filter((file) => /^c\/.*\.h$/.test(file));
  const units = ["split_words", "word_table", "count_words"];
  const compilations = units.map(
    (unit): PlannedAction => ({
      mnemonic: "CCompile",
      target: `//c:${unit}`,
      script: `cc -std=c99 -O2 -c c/${unit}.c -o build/${unit}.o`,
      inputs: [`c/${unit}.c`, ...headers],
      outputs: [`build/${unit}.o`],
    }),
  );
  const objects = compilations.flatMap(({ outputs }) => outputs);
  const link: PlannedAction = {
    mnemonic: "CLink",
    target: "//c:count_words_command",
    script: `cc -o build/count_words ${objects.join(" ")}`,
    inputs: objects,
    outputs: ["build/count_words"],
  };
  return [...compilations, link];
}
