/** One change of a file: text that is inserted after a unique text, or a whole new file. */
export type Edit =
  | { readonly file: string; readonly behind: string; readonly text: string }
  | { readonly file: string; readonly content: string };

/** A change that CONTRIBUTING.md describes, as it is tried on a copy. */
export interface Recipe {
  /** As in CONTRIBUTING.md. */
  readonly name: string;
  /** The maximum number of changed files; documents and tests do not count. */
  readonly mostFiles: number;
  readonly edits: readonly Edit[];
}

export const recipes: readonly Recipe[] = [
  {
    name: "an HTTP endpoint",
    mostFiles: 3,
    edits: [
      {
        file: "src/api/endpoints/server-endpoints.ts",
        behind: "export const serverEndpoints = {\n",
        text: `  tried: endpoint({
    method: "GET",
    path: "/tried/:name",
    right: rightSomewhere("read"),
    summary: "Tries the recipe.",
    query: z.object({ times: z.coerce.number().int().default(1) }),
    answer: json(z.object({ text: z.string() })),
  }),
`,
      },
      {
        file: "src/server/handlers/server-handlers.ts",
        behind: "  return {\n",
        text: `    tried: ({ params, query }) => ({ text: \`\${params.name} \${query.times}\` }),
`,
      },
    ],
  },
  {
    name: "a right",
    mostFiles: 2,
    edits: [
      { file: "src/core/verb.ts", behind: '  "read",\n', text: '  "inspect",\n' },
      {
        file: "src/db/migrations/9999_right_to_inspect.sql",
        content: "alter table grant_rule drop constraint a_verb_is_known;\n",
      },
    ],
  },
  {
    name: "a storage of blobs",
    mostFiles: 3,
    edits: [
      {
        file: "src/cas/elsewhere/elsewhere-storage.ts",
        content: `import type { BlobStorage } from "../blob-storage.ts";
import { openDiskStorage } from "../disk/disk-storage.ts";

export function openElsewhereStorage(bucket: string): Promise<BlobStorage> {
  return openDiskStorage(bucket);
}
`,
      },
      {
        file: "src/cas/open-blob-storage.ts",
        behind: "switch (location.kind) {\n",
        text: '    case "elsewhere":\n      return openElsewhereStorage(location.bucket);\n',
      },
      {
        file: "src/cas/open-blob-storage.ts",
        behind: "type StorageLocation =",
        text: ' { readonly kind: "elsewhere"; readonly bucket: string } |',
      },
      {
        file: "src/cas/open-blob-storage.ts",
        behind: 'import { openDiskStorage } from "./disk/disk-storage.ts";\n',
        text: 'import { openElsewhereStorage } from "./elsewhere/elsewhere-storage.ts";\n',
      },
    ],
  },
  {
    name: "a key of job definitions",
    mostFiles: 3,
    edits: [
      {
        file: "src/definitions/job-definition.ts",
        behind: "export const JobDefinition = z\n  .strictObject({\n",
        text: '    niceness: z.int().min(0).max(19).optional().describe("The nice value of its commands."),\n',
      },
      {
        file: "src/definitions/kind-keys.ts",
        behind: "const kindsWith: Readonly<Record<string, readonly JobKind[]>> = {\n",
        text: "  niceness: machine,\n",
      },
      {
        file: "src/graphs/build-action.ts",
        behind: '    ...(job.network === true ? { network: "on" } : {}),\n',
        text: "    ...(job.niceness === undefined ? {} : { niceness: String(job.niceness) }),\n",
      },
    ],
  },
  {
    name: "a queue order",
    mostFiles: 1,
    edits: [
      {
        file: "src/execution/claiming/turn-score.ts",
        behind: "export function weightOf(priority: number): number {\n",
        text: "  if (priority > 0) return 1;\n",
      },
    ],
  },
  {
    name: "a sandbox of workers",
    mostFiles: 2,
    edits: [
      {
        file: "src/worker/sandbox/tried/tried-sandbox.ts",
        content: `import { withExactEnvironment } from "../sandbox.ts";
import type { SandboxKind } from "../sandbox-kind.ts";

export const triedKind: SandboxKind = {
  kind: "tried",
  open: async () => [
    {
      name: "tried",
      sandbox: {
        kind: "tried",
        isolates: true,
        ownPids: true,
        placesOf: (places) => places,
        commandLine: (command) => [
          "tried",
          command.root,
          ...withExactEnvironment(command.arguments, command.environment),
        ],
      },
    },
  ],
};
`,
      },
      {
        file: "src/worker/sandbox/sandbox-kinds.ts",
        behind: "export const sandboxKinds: readonly SandboxKind[] = [",
        text: "triedKind, ",
      },
      {
        file: "src/worker/sandbox/sandbox-kinds.ts",
        behind: 'import type { SandboxKind } from "./sandbox-kind.ts";\n',
        text: 'import { triedKind } from "./tried/tried-sandbox.ts";\n',
      },
    ],
  },
  {
    name: "a forge",
    mostFiles: 2,
    edits: [
      {
        file: "src/forge/tried/tried-kind.ts",
        content: `import type { ForgeKind } from "../forge-kind.ts";

export const triedKind: ForgeKind = {
  kind: "tried",
  open: async () => ({
    kind: "tried",
    storedSlug: (written) => written,
    fetchAddress: async (slug) => \`https://tried.example/\${slug}.git\`,
    refs: async () => [],
    defaultBranch: async () => "main",
    examine: async () => [],
    labels: { list: async () => [], add: async () => {}, remove: async () => {} },
  }),
};
`,
      },
      {
        file: "src/forge/forge-kinds.ts",
        behind: "export const forgeKinds: readonly ForgeKind[] = [",
        text: "triedKind, ",
      },
      {
        file: "src/forge/forge-kinds.ts",
        behind: 'import { gitHubKind } from "./github/github-kind.ts";\n',
        text: 'import { triedKind } from "./tried/tried-kind.ts";\n',
      },
    ],
  },
  {
    name: "a size-class strategy",
    mostFiles: 4,
    edits: [
      {
        file: "src/size-classes/strategies/tried.ts",
        content: 'export { largestStrategy as triedStrategy } from "./largest.ts";\n',
      },
      {
        file: "src/size-classes/strategy.ts",
        behind: "export const strategyNames = [",
        text: '"tried", ',
      },
      {
        file: "src/size-classes/choose-strategy.ts",
        behind: "switch (settings.strategy) {\n",
        text: '    case "tried":\n      return triedStrategy;\n',
      },
      {
        file: "src/size-classes/choose-strategy.ts",
        behind: 'import type { Strategy } from "./strategy.ts";\n',
        text: 'import { triedStrategy } from "./strategies/tried.ts";\n',
      },
      {
        file: "src/api/size-class.ts",
        behind: "export const sizeClassStrategies = [",
        text: '"tried", ',
      },
    ],
  },
  {
    name: "a statistic of the comparison",
    mostFiles: 3,
    edits: [
      {
        file: "src/api/benchmark-comparison.ts",
        behind: "export const MetricSummary = z.object({\n",
        text: "  largestChange: z.number().nullable().optional(),\n",
      },
      {
        file: "src/comparison/summarise.ts",
        behind: "  return {\n    metric,\n",
        text: "    largestChange: Math.max(...cases.map((each) => Math.abs(statedChange(each) ?? 0))),\n",
      },
    ],
  },
];
