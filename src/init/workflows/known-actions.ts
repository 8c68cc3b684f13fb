import type { NeededTool } from "../starter-job.ts";
import type { WorkflowNote } from "./workflow-notes.ts";

/** The replacement of a step that uses an action. */
type KnownAction =
  /** The farm does this itself. */
  | { readonly kind: "done" }
  /** The action installs a program; jobs use the worker's program, or the commands install it. */
  | {
      readonly kind: "setup";
      readonly tool?: NeededTool;
      readonly commands?: readonly string[];
      readonly note: WorkflowNote;
    }
  /** The job does not need it for its work. */
  | { readonly kind: "optional"; readonly note: string };

type Inputs = Readonly<Record<string, string>>;

const prefix = "$PWD/.grange-tools";

function ownProgram(program: string, debianPackage: string, version?: string): KnownAction {
  return {
    kind: "setup",
    tool: { program, package: debianPackage },
    note: { kind: "own-program", program, version },
  };
}

const cache: KnownAction = {
  kind: "optional",
  note: "not needed: results are cached by their inputs",
};
const report: KnownAction = {
  kind: "optional",
  note: "left out: it sends results to another service",
};

const actions: readonly [RegExp, (inputs: Inputs) => KnownAction][] = [
  [/^actions\/checkout$/, () => ({ kind: "done" })],
  [/^actions\/setup-node$/, (w) => ownProgram("node", "nodejs", w["node-version"])],
  [/^actions\/setup-python$/, (w) => ownProgram("python3", "python3-venv", w["python-version"])],
  [/^actions\/setup-go$/, (w) => ownProgram("go", "golang-go", w["go-version"])],
  [/^actions\/setup-java$/, (w) => ownProgram("javac", "default-jdk-headless", w["java-version"])],
  [
    /^(dtolnay\/rust-toolchain|actions-rs\/toolchain|actions-rust-lang\/setup-rust-toolchain|moonrepo\/setup-rust)$/,
    (w) => ownProgram("cargo", "cargo", w["toolchain"]),
  ],
  [/^gradle\/(actions\/setup-gradle|gradle-build-action|wrapper-validation-action)$/, () => cache],
  [/^gradle\/actions\/wrapper-validation$/, () => cache],
  [
    /^pnpm\/action-setup$/,
    ({ version }) => ({
      kind: "setup",
      tool: { program: "npm", package: "npm" },
      commands: [
        `npm install --global --no-audit --no-fund --prefix "${prefix}" pnpm@${version ?? "10"}`,
        `export PATH="${prefix}/bin:$PATH"`,
      ],
      note: { kind: "text", text: "pnpm is installed by npm for each job" },
    }),
  ],
  [
    /^(astral-sh\/setup-uv|hynek\/setup-cached-uv)$/,
    () => ({
      kind: "setup",
      tool: { program: "python3", package: "python3-venv" },
      commands: [
        'command -v uv || { python3 -m venv "$TMPDIR/uv"; "$TMPDIR/uv/bin/pip" install --quiet uv; export PATH="$TMPDIR/uv/bin:$PATH"; }',
      ],
      note: { kind: "text", text: "uv is installed by pip where the worker has none" },
    }),
  ],
  [
    /^(actions\/cache(\/(restore|save))?|Swatinem\/rust-cache|mozilla-actions\/sccache-action|hendrikmuhs\/ccache-action)$/,
    () => cache,
  ],
  [
    /^(codecov\/codecov-action|coverallsapp\/github-action|codacy\/.*|dorny\/test-reporter)$/,
    () => report,
  ],
  [
    /^actions\/upload-artifact$/,
    () => ({ kind: "optional", note: "left out: name what the job makes in its `outputs`" }),
  ],
];

/** Looks up an action by the text of `uses`, such as `actions/checkout@v4`. Undefined for unknown ones. */
export function knownAction(uses: string, inputs: Inputs): KnownAction | undefined {
  const name = uses.split("@")[0] ?? "";
  return actions.find(([pattern]) => pattern.test(name))?.[1](inputs);
}
