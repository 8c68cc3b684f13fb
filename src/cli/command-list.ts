import type { Command } from "commander";

/** The facts that a command needs about the program. */
export interface Program {
  /** The file with which Node was started, for commands that start further processes. */
  readonly entry: string;
  readonly version: string;
}

/** Adds arguments, options, examples and the action to a command. */
export type Describe = (command: Command, program: Program) => void;

interface Listed {
  readonly summary: string;
  /** Loaded only when the command is called, because help must appear at once. */
  readonly load: () => Promise<Describe>;
}

/** All commands, in the order of the help. */
export const commandList: Readonly<Record<string, Listed>> = {
  up: {
    summary: "start a farm here and run the graph of a commit",
    load: async () => (await import("./commands/up.ts")).describeUp,
  },
  init: {
    summary: "write starter definitions for a repository",
    load: async () => (await import("./commands/init.ts")).describeInit,
  },
  run: {
    summary: "run jobs of the working tree on this machine, without a farm",
    load: async () => (await import("./commands/run.ts")).describeRun,
  },
  submit: {
    summary: "ask a farm for the graph of a commit",
    load: async () => (await import("./commands/submit.ts")).describeSubmit,
  },
  catalog: {
    summary: "push, show and compare definitions",
    load: async () => (await import("./commands/catalog.ts")).describeCatalog,
  },
  branch: {
    summary: "show and say what holds on a branch: switches, caps, protection",
    load: async () => (await import("./commands/branch.ts")).describeBranch,
  },
  status: {
    summary: "show the latest graphs, or one graph and its jobs",
    load: async () => (await import("./commands/status.ts")).describeStatus,
  },
  why: {
    summary: "say why a job does not run yet, and what would help",
    load: async () => (await import("./commands/why.ts")).describeWhy,
  },
  failures: {
    summary: "say what failed in a graph, since when, and how the logs end",
    load: async () => (await import("./commands/failures.ts")).describeFailures,
  },
  logs: {
    summary: "print the log of a job",
    load: async () => (await import("./commands/logs.ts")).describeLogs,
  },
  runs: {
    summary: "list the runs of a job",
    load: async () => (await import("./commands/runs.ts")).describeRuns,
  },
  times: {
    summary: "show how long jobs waited and ran, and whether the goal is met",
    load: async () => (await import("./commands/times.ts")).describeTimes,
  },
  metric: {
    summary: "show and set what the farm is measured by",
    load: async () => (await import("./commands/metric.ts")).describeMetric,
  },
  report: {
    summary: "tell a farm how a job went that another machine ran",
    load: async () => (await import("./commands/report.ts")).describeReport,
  },
  backfill: {
    summary: "run jobs on every commit of a range",
    load: async () => (await import("./commands/backfill.ts")).describeBackfill,
  },
  bisect: {
    summary: "find the first commit on which jobs fail",
    load: async () => (await import("./commands/bisect.ts")).describeBisect,
  },
  search: {
    summary: "list, show or cancel backfills and bisections",
    load: async () => (await import("./commands/search.ts")).describeSearch,
  },
  bench: {
    summary: "measure artifacts, compare them, and follow what they cost",
    load: async () => (await import("./commands/bench.ts")).describeBench,
  },
  workers: {
    summary: "list the workers of a farm",
    load: async () => (await import("./commands/workers.ts")).describeWorkers,
  },
  "size-classes": {
    summary: "list size classes: their load, their cost, what choosing them saves",
    load: async () => (await import("./commands/size-class.ts")).describeSizeClasses,
  },
  "size-class": {
    summary: "explain why a size class was chosen, and set how they are",
    load: async () => (await import("./commands/size-class.ts")).describeSizeClass,
  },
  invocations: {
    summary: "list the latest goes of build tools",
    load: async () => (await import("./commands/invocations.ts")).describeInvocations,
  },
  invocation: {
    summary: "show what a build tool asked for, and what failed",
    load: async () => (await import("./commands/invocation.ts")).describeInvocation,
  },
  execution: {
    summary: "show one execution of an action, or what it wrote",
    load: async () => (await import("./commands/execution.ts")).describeExecution,
  },
  reproduce: {
    summary: "run the action of an execution on this machine, and compare the outputs",
    load: async () => (await import("./commands/reproduce.ts")).describeReproduce,
  },
  cancel: {
    summary: "cancel a graph, or one job of it",
    load: async () => (await import("./commands/cancel.ts")).describeCancel,
  },
  priority: {
    summary: "change how soon a graph's jobs run",
    load: async () => (await import("./commands/priority.ts")).describePriority,
  },
  drain: {
    summary: "let workers take nothing new, before a machine goes",
    load: async () => (await import("./commands/drain.ts")).describeDrain,
  },
  autoscaling: {
    summary: "say how many workers each size class should have, and why",
    load: async () => (await import("./commands/autoscaling.ts")).describeAutoscaling,
  },
  token: {
    summary: "make, list and revoke the tokens by which a farm knows who asks",
    load: async () => (await import("./commands/token.ts")).describeToken,
  },
  "sign-in": {
    summary: "sign a browser in without pasting a token, and see which are",
    load: async () => (await import("./commands/sign-in.ts")).describeSignIn,
  },
  identity: {
    summary: "say whose names people from the identity provider have",
    load: async () => (await import("./commands/identity.ts")).describeIdentity,
  },
  issuer: {
    summary: "let signed tokens of a CI or a cloud count",
    load: async () => (await import("./commands/issuer.ts")).describeIssuer,
  },
  grant: {
    summary: "say who may do what, and where",
    load: async () => (await import("./commands/grant.ts")).describeGrant,
  },
  provenance: {
    summary: "say which run made an output, as the farm has signed it",
    load: async () => (await import("./commands/provenance.ts")).describeProvenance,
  },
  secret: {
    summary: "keep what jobs are given and nobody reads, and say on which branches",
    load: async () => (await import("./commands/secret.ts")).describeSecret,
  },
  forge: {
    summary: "watch repositories: graphs of what is pushed, and of pull requests",
    load: async () => (await import("./commands/forge.ts")).describeForge,
  },
  key: {
    summary: "make keys for signing, and say whose signatures count",
    load: async () => (await import("./commands/key.ts")).describeKey,
  },
  sign: {
    summary: "sign a catalog, so that protected branches run it",
    load: async () => (await import("./commands/sign.ts")).describeSign,
  },
  retrigger: {
    summary: "run jobs of a graph or of a set again; shows first what will run",
    load: async () => (await import("./commands/retrigger.ts")).describeRetrigger,
  },
  "rerun-stale": {
    summary: "run again what ran on what is no longer given",
    load: async () => (await import("./commands/retrigger.ts")).describeRerunStale,
  },
  activate: {
    summary: "ask for jobs that are in a graph, but inactive",
    load: async () => (await import("./commands/activate.ts")).describeActivate,
  },
  deactivate: {
    summary: "set jobs inactive that have not started",
    load: async () => (await import("./commands/activate.ts")).describeDeactivate,
  },
  waive: {
    summary: "let a job go on without another",
    load: async () => (await import("./commands/waive.ts")).describeWaive,
  },
  release: {
    summary: "let a breakpoint go, or stop there",
    load: async () => (await import("./commands/release.ts")).describeRelease,
  },
  customise: {
    summary: "change a job's definition in one graph",
    load: async () => (await import("./commands/customise.ts")).describeCustomise,
  },
  clone: {
    summary: "make a new graph like another, or like a part of it",
    load: async () => (await import("./commands/clone.ts")).describeClone,
  },
  set: {
    summary: "list the graphs of a set",
    load: async () => (await import("./commands/set.ts")).describeSet,
  },
  simulate: {
    summary: "let strategies choose size classes on a trace, and compare what they come to",
    load: async () => (await import("./commands/simulate.ts")).describeSimulate,
  },
  trace: {
    summary: "write what a farm executed, or a standard trace, for a simulation",
    load: async () => (await import("./commands/trace.ts")).describeTrace,
  },
  doctor: {
    summary: "check what this machine offers, and what is in the way",
    load: async () => (await import("./commands/doctor.ts")).describeDoctor,
  },
  example: {
    summary: "make a Git repository from the published versions of an npm package",
    load: async () => (await import("./commands/example.ts")).describeExample,
  },
  granary: {
    summary: "run this machine's cache, which has everything before the build asks",
    load: async () => (await import("./commands/granary.ts")).describeGranary,
  },
  exec: {
    summary: "run a build with this machine's granary, and say what that saved",
    load: async () => (await import("./commands/exec.ts")).describeExec,
  },
  access: {
    summary: "show and set whether the farm is open, public or private",
    load: async () => (await import("./commands/access.ts")).describeAccess,
  },
  role: {
    summary: "named sets of verbs, for grants",
    load: async () => (await import("./commands/role.ts")).describeRole,
  },
  share: {
    summary: "make links by which others read one log, output or comparison, and end them",
    load: async () => (await import("./commands/share.ts")).describeShare,
  },
  audit: {
    summary: "what was done on the farm, by whom and why",
    load: async () => (await import("./commands/audit.ts")).describeAudit,
  },
  mcp: {
    summary: "serve the farm's graphs, logs and failures to coding assistants",
    load: async () => (await import("./commands/mcp.ts")).describeMcp,
  },
  completion: {
    summary: "print the script that completes commands in a shell",
    load: async () => (await import("./commands/completion.ts")).describeCompletion,
  },
  man: {
    summary: "print or write the man pages",
    load: async () => (await import("./commands/man.ts")).describeMan,
  },
  retention: {
    summary: "how long graphs and records are kept, and labels that keep graphs",
    load: async () => (await import("./commands/retention.ts")).describeRetention,
  },
  repository: {
    summary: "list repositories, and set through which project each is read",
    load: async () => (await import("./commands/repository.ts")).describeRepository,
  },
  project: {
    summary: "which projects have blobs, and removing those that nobody needs",
    load: async () => (await import("./commands/project.ts")).describeProject,
  },
  quarantine: {
    summary: "results that came out otherwise when they were made again",
    load: async () => (await import("./commands/quarantine.ts")).describeQuarantine,
  },
  collector: {
    summary: "run a machine that measures, and say which there are",
    load: async () => (await import("./commands/collector.ts")).describeCollector,
  },
  backup: {
    summary: "copy a farm, its database and its blobs, to a directory while it runs",
    load: async () => (await import("./commands/backup.ts")).describeBackup,
  },
  restore: {
    summary: "make a farm from a backup, or check whether that would work",
    load: async () => (await import("./commands/restore.ts")).describeRestore,
  },
  service: {
    summary: "let systemd run a server, workers or a granary",
    load: async () => (await import("./commands/service.ts")).describeService,
  },
  server: {
    summary: "run a server alone",
    load: async () => (await import("./commands/server.ts")).describeServer,
  },
  worker: {
    summary: "run a worker for a server",
    load: async () => (await import("./commands/worker.ts")).describeWorker,
  },
};
