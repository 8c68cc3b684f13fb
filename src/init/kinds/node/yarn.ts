import { hasDependencies, lifecycleScripts } from "./package-json.ts";
import {
  handModules,
  installComment,
  manifestsOf,
  type NodeProject,
  type PackageManager,
  toolsDirectory,
} from "./package-manager.ts";

/** Yarn 1, and Yarn 2 and later ("berry"). */
export function yarn(project: NodeProject): PackageManager {
  const lock = project.files.text("yarn.lock") ?? "";
  return lock.includes("# yarn lockfile v1") ? classic(project) : berry(project);
}

const usePrefix = `export PATH="$PWD/${toolsDirectory}/bin:$PATH"`;

function installTool(specifier: string): string[] {
  return [
    `npm install --global --no-audit --no-fund --prefix "$PWD/${toolsDirectory}" ${specifier}`,
    usePrefix,
  ];
}

function classic(project: NodeProject): PackageManager {
  const { files } = project;
  const version = namedVersion(project) ?? "1.22.22";
  const handed = handModules(project, moduleDirectories(project));
  return {
    name: "yarn",
    found: `yarn.lock (Yarn ${version})`,
    install: {
      name: "install",
      comment: installComment,
      commands: [
        ...installTool(`yarn@${version}`),
        `yarn install --frozen-lockfile --non-interactive${hasOwnScripts(project) ? " --ignore-scripts" : ""}`,
        ...handed.pack,
      ],
      inputs: ["yarn.lock", ...files.existing(".yarnrc", ".npmrc"), ...manifestsOf(project)],
      outputs: [toolsDirectory, ...handed.outputs],
      network: true,
    },
    prepare: [usePrefix, ...handed.unpack],
    run: (script) => `yarn run ${script}`,
    runInAll: (script) => `yarn workspaces run ${script}`,
    notes: [],
  };
}

function berry(project: NodeProject): PackageManager {
  const { files } = project;
  const settings = files.text(".yarnrc.yml") ?? "";
  const path = /^yarnPath:\s*["']?([^"'\s]+)/m.exec(settings)?.[1];
  const committed = path !== undefined && files.has(path);
  const version = namedVersion(project) ?? "4";
  const handed = handModules(project, moduleDirectories(project));
  const plugAndPlay = !/^nodeLinker:\s*["']?(node-modules|pnpm)/m.test(settings);
  // Set by variables, because .yarnrc.yml may have other settings: links into the cache of a home directory would not
  // outlive the job.
  const environment = "export YARN_NODE_LINKER=node-modules YARN_ENABLE_TELEMETRY=0";
  const program = committed ? [`yarn() { node "$PWD/${path}" "$@"; }`] : [usePrefix];
  return {
    name: "yarn",
    found: `yarn.lock (Yarn ${committed ? path : version})`,
    install: {
      name: "install",
      comment: installComment,
      commands: [
        ...(committed ? program : installTool(`@yarnpkg/cli-dist@${version}`)),
        environment,
        `yarn install --immutable${hasOwnScripts(project) ? " --mode=skip-build" : ""}`,
        ...handed.pack,
      ],
      inputs: [
        "yarn.lock",
        ...files.existing(".yarnrc.yml", ".npmrc"),
        ...["releases", "plugins", "patches", "cache"]
          .map((name) => `.yarn/${name}`)
          .filter((directory) => files.hasDirectory(directory)),
        ...manifestsOf(project),
      ],
      outputs: [
        ...(committed ? [] : [toolsDirectory]),
        ".yarn/install-state.gz",
        ...handed.outputs,
      ],
      network: true,
    },
    prepare: [...program, environment, ...handed.unpack],
    run: (script) => `yarn run ${script}`,
    runInAll: (script) => `yarn workspaces foreach --all run ${script}`,
    notes: plugAndPlay
      ? ["Yarn's Plug'n'Play is replaced by node_modules, which can be handed from job to job"]
      : [],
  };
}

function namedVersion({ manifest }: NodeProject): string | undefined {
  return /^yarn@(\d+(?:\.\d+){0,2})/.exec(manifest.packageManager ?? "")?.[1];
}

function hasOwnScripts({ manifest, members }: NodeProject): boolean {
  return [manifest, ...members.values()].some((each) => lifecycleScripts(each).length > 0);
}

/** Only the installation shows which members get a node_modules, and outputs must exist. */
function moduleDirectories({ members }: NodeProject): string[] {
  const nested = [...members].filter(([, manifest]) => hasDependencies(manifest));
  return ["node_modules", ...nested.map(([member]) => `${member}/node_modules`)];
}
