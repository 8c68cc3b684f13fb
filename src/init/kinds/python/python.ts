import type { Kind, RecognisedProject } from "../../kind.ts";
import type { ProjectFiles } from "../../repository-files.ts";
import type { NeededTool, StarterJob } from "../../starter-job.ts";
import { type PyProject, readPyProject } from "./pyproject.ts";

const tools: readonly NeededTool[] = [{ program: "python3", package: "python3-venv" }];

/** Tests run in a new virtual environment: an existing one cannot be moved, and links to its interpreter. */
const newEnvironment = [
  'python3 -m venv "$TMPDIR/venv"',
  'export PATH="$TMPDIR/venv/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1',
];

/** Python projects, with uv, tox, Poetry, or pip and pytest. */
export const python: Kind = {
  name: "python",
  mark: /^(pyproject\.toml|setup\.py|setup\.cfg|tox\.ini|uv\.lock|requirements.*\.txt)$/,
  recognise(project) {
    const text = project.text("pyproject.toml");
    const pyproject = readPyProject(text);
    const isPackage = project.has("setup.py") || pyproject?.["build-system"] !== undefined;
    const hasRequirements = requirementFiles(project).length > 0;
    if (project.has("uv.lock")) return byUv(project, pyproject);
    if (toxCommands(project).length > 0) return byTox(project);
    if (project.has("poetry.lock") && pyproject?.tool["poetry"] !== undefined)
      return byPoetry(project);
    // A pyproject.toml may contain only settings of linters.
    if (!isPackage && pyproject?.project === undefined && !hasRequirements && !hasTests(project))
      return undefined;
    if (!isPackage && pyproject?.project === undefined) return byRequirements(project);
    return byPip(project, pyproject);
  },
};

/** A version for tools that read it from Git, which is missing in a job. */
function versionEnvironment(project: ProjectFiles): { environment?: Record<string, string> } {
  const texts = ["pyproject.toml", "setup.py", "setup.cfg"]
    .map((name) => project.text(name) ?? "")
    .join("\n");
  const version = project.version ?? "0.1.0";
  if (/setuptools[-_]scm|hatch-vcs|pdm-backend|vcs-versioning/.test(texts)) {
    return {
      environment: { SETUPTOOLS_SCM_PRETEND_VERSION: version, PDM_BUILD_SCM_VERSION: version },
    };
  }
  return /\bpbr\b/.test(texts) ? { environment: { PBR_VERSION: version } } : {};
}

function byUv(project: ProjectFiles, pyproject: PyProject | undefined): RecognisedProject {
  const uv = [
    // If uv is not installed, pip installs it.
    'command -v uv || { python3 -m venv "$TMPDIR/uv"; "$TMPDIR/uv/bin/pip" install --quiet uv; export PATH="$TMPDIR/uv/bin:$PATH"; }',
    'export UV_CACHE_DIR="$PWD/.uv-cache" UV_PROJECT_ENVIRONMENT="$TMPDIR/venv"',
  ];
  const place = placeOfPytest(pyproject);
  const choice =
    place === undefined || place === "dependencies" || place.name === "dev"
      ? ""
      : place.kind === "group"
        ? ` --group ${place.name}`
        : ` --extra ${place.name}`;
  const packages = project.some((path) => path.endsWith("/pyproject.toml"))
    ? " --all-packages"
    : "";
  const run = hasTests(project)
    ? `uv run --frozen${packages}${choice}${place === undefined ? " --with pytest" : ""} pytest`
    : `uv run --frozen${packages} python -m compileall -q .`;
  return {
    found: `uv.lock${hasTests(project) ? " with tests" : ""}`,
    jobs: [
      {
        name: "uv/packages",
        comment: "Runs again only when these files change. The other job takes uv's cache from it.",
        commands: [...uv, `uv sync --frozen${packages}${choice} --no-install-workspace`],
        inputs: ["uv.lock", "**/pyproject.toml", ...project.existing(".python-version")],
        outputs: [".uv-cache"],
        network: true,
        ...versionEnvironment(project),
      },
      {
        name: hasTests(project) ? "python/test" : "python/compile",
        comment:
          "Needs the network for what builds this package; its dependencies come from the cache.",
        commands: [...uv, run],
        needs: ["uv/packages"],
        network: true,
        ...versionEnvironment(project),
      },
    ],
    tools,
  };
}

/** Returns the lines of `commands` in the general section of tox; none when it has no commands for any Python. */
function toxCommands(project: ProjectFiles): string[] {
  const ini = project.text("tox.ini") ?? project.text("setup.cfg") ?? "";
  const general = /^\[testenv\]\n((?:(?!\[).*\n?)*)/m.exec(ini)?.[1] ?? "";
  const [, first = "", rest = ""] =
    /^commands[ \t]*=[ \t]*(.*)\n?((?:[ \t]+\S.*\n?|\n)*)/m.exec(general) ?? [];
  return [first, ...rest.split("\n")].map((line) => line.trim()).filter((line) => line !== "");
}

/**
 * Returns the environment of tox for the Python that is there. `tests: pytest` is a command only of environments with
 * `tests` in their names.
 */
function toxEnvironment(commands: readonly string[]): string {
  const factors = commands.map((line) => /^([A-Za-z]\w*):\s/.exec(line)?.[1]);
  if (factors.includes(undefined)) return "py";
  const factor = factors.find((name) => /test/i.test(name ?? "")) ?? factors[0];
  return factor === undefined ? "py" : `py-${factor}`;
}

function byTox(project: ProjectFiles): RecognisedProject {
  const { environment } = versionEnvironment(project);
  // tox passes only listed variables to environments, and to those that build the package.
  const passed = { TOX_OVERRIDE: "testenv.pass_env+=*_VERSION;pkgenv.pass_env+=*_VERSION" };
  return {
    found: project.has("tox.ini") ? "tox.ini" : "setup.cfg with tox",
    jobs: [
      {
        name: "python/tox",
        comment: "Environments with `py` in their names use the Python that is there.",
        commands: [
          ...newEnvironment,
          "pip install --quiet tox",
          // In its own directory .tox: it refuses to build a package below directories of an unknown user, as `/` of a
          // sandbox is.
          `tox run -e ${toxEnvironment(toxCommands(project))}`,
        ],
        network: true,
        ...(environment === undefined ? {} : { environment: { ...environment, ...passed } }),
      },
    ],
    tools,
  };
}

function byPoetry(project: ProjectFiles): RecognisedProject {
  const run = hasTests(project) ? "pytest" : "python -m compileall -q .";
  return {
    found: `poetry.lock${hasTests(project) ? " with tests" : ""}`,
    jobs: [
      {
        name: hasTests(project) ? "python/test" : "python/compile",
        commands: [
          'python3 -m venv "$TMPDIR/poetry"',
          '"$TMPDIR/poetry/bin/pip" install --quiet poetry',
          ...newEnvironment,
          // Inside an active environment, Poetry creates none.
          'VIRTUAL_ENV="$TMPDIR/venv" "$TMPDIR/poetry/bin/poetry" install --no-interaction',
          run,
        ],
        network: true,
        ...versionEnvironment(project),
      },
    ],
    tools,
  };
}

/** Packages are fetched as wheels by one job, and installed without the network by the other. */
function byRequirements(project: ProjectFiles): RecognisedProject {
  const files = requirementFiles(project);
  const read = files.map((file) => ` -r ${file}`).join("");
  const tested = hasTests(project);
  const wanted = `${tested ? " pytest" : ""}${read}`;
  const wheels: StarterJob = {
    name: "python/wheels",
    comment: "Runs again only when these files change. The other job installs what it made.",
    commands: [...newEnvironment, `pip wheel --quiet --wheel-dir .wheels${wanted}`],
    inputs: [...new Set([...files, ...includedFiles(project, files)])],
    outputs: [".wheels"],
    network: true,
  };
  const hasWheels = wanted !== "";
  return {
    found: `${files.length === 0 ? "tests" : files.join(", ")}${files.length > 0 && tested ? " with tests" : ""}`,
    jobs: [
      ...(hasWheels ? [wheels] : []),
      {
        name: tested ? "python/test" : "python/compile",
        commands: [
          ...newEnvironment,
          ...(hasWheels ? [`pip install --quiet --no-index --find-links .wheels${wanted}`] : []),
          // `python -m` finds modules at the top, which are not installed.
          tested ? "python -m pytest" : "python -m compileall -q .",
        ],
        ...(hasWheels ? { needs: ["python/wheels"] } : {}),
      },
    ],
    tools,
  };
}

function byPip(project: ProjectFiles, pyproject: PyProject | undefined): RecognisedProject {
  const place = placeOfPytest(pyproject);
  const isPackage =
    project.has("setup.py") ||
    pyproject?.["build-system"] !== undefined ||
    pyproject?.project !== undefined;
  // Editable: tests find the sources, and files beside them. Backends that compile do not support this everywhere.
  const compiles = /mesonpy|scikit_build|maturin/.test(
    pyproject?.["build-system"]?.["build-backend"] ?? "",
  );
  const chosen = extraForTests(project, pyproject);
  const group =
    place !== undefined && place !== "dependencies" && place.kind === "group"
      ? place.name
      : groupForTests(pyproject);
  const itself = `${compiles ? "" : "-e "}'.${chosen === undefined ? "" : `[${chosen}]`}'`;
  const tested = hasTests(project);
  const parts = [
    ...(isPackage ? [itself] : []),
    ...(tested ? ["pytest", ...pluginsOf(project)] : []),
    ...(group === undefined ? [] : [`--group ${group}`]),
    ...testRequirementFiles(project).map((file) => `-r ${file}`),
  ];
  const marks = ["pyproject.toml", "setup.cfg", "setup.py"].filter((name) => project.has(name));
  return {
    found: `${marks.join(", ")}${tested ? " with tests" : ""}`,
    jobs: [
      {
        name: tested ? "python/test" : "python/install",
        comment: "One job: how the package is built is known only from all its files.",
        commands: [
          ...newEnvironment,
          ...(group === undefined ? [] : ["pip install --quiet --upgrade pip"]),
          `pip install --quiet ${parts.join(" ")}`,
          ...(tested ? ["python -m pytest"] : []),
        ],
        network: true,
        ...versionEnvironment(project),
      },
    ],
    tools,
  };
}

type PlaceOfPytest = "dependencies" | { readonly kind: "extra" | "group"; readonly name: string };

/** Returns where pyproject.toml names pytest; uv's default group first. */
function placeOfPytest(pyproject: PyProject | undefined): PlaceOfPytest | undefined {
  if (pyproject === undefined) return undefined;
  const isPytest = (requirement: string) => /^pytest\b(?!-)/i.test(requirement.trim());
  const groups = preferred(Object.entries(pyproject["dependency-groups"]));
  const extras = preferred(Object.entries(pyproject.project?.["optional-dependencies"] ?? {}));
  const group = groups.find(([, requirements]) => requirements.some(isPytest));
  if (group !== undefined) return { kind: "group", name: group[0] };
  const extra = extras.find(([, requirements]) => requirements.some(isPytest));
  if (extra !== undefined) return { kind: "extra", name: extra[0] };
  return pyproject.project?.dependencies.some(isPytest) ? "dependencies" : undefined;
}

const usualNames = ["dev", "test", "tests", "testing", "develop"];

function preferred<T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] {
  const rank = (name: string) =>
    usualNames.includes(name) ? usualNames.indexOf(name) : usualNames.length;
  return entries.toSorted(([a], [b]) => rank(a) - rank(b));
}

function extraForTests(
  project: ProjectFiles,
  pyproject: PyProject | undefined,
): string | undefined {
  const place = placeOfPytest(pyproject);
  if (place !== undefined && place !== "dependencies" && place.kind === "extra") return place.name;
  const names = Object.keys(pyproject?.project?.["optional-dependencies"] ?? {});
  const inSetup = `${project.text("setup.py") ?? ""}\n${project.text("setup.cfg") ?? ""}`;
  const order = ["test", "tests", "testing", "dev"];
  return order.find(
    (name) =>
      names.includes(name) ||
      new RegExp(`extras_require[\\s\\S]*?\\b${name}["']?\\s*[:=]`, "m").test(inSetup),
  );
}

function groupForTests(pyproject: PyProject | undefined): string | undefined {
  const names = Object.keys(pyproject?.["dependency-groups"] ?? {});
  return ["test", "tests", "testing", "dev"].find((name) => names.includes(name));
}

/** Returns the plugins for the options of pytest; possibly no list names them. */
function pluginsOf(project: ProjectFiles): string[] {
  const options = ["pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini"]
    .map((name) => project.text(name) ?? "")
    .join("\n");
  const plugins: [RegExp, string][] = [
    [/addopts[^\n]*--cov/, "pytest-cov"],
    [/addopts[^\n]*(\s-n[ =\d]|--numprocesses)/, "pytest-xdist"],
    [/asyncio_mode/, "pytest-asyncio"],
    [/addopts[^\n]*--timeout/, "pytest-timeout"],
  ];
  return plugins.filter(([pattern]) => pattern.test(options)).map(([, name]) => name);
}

function hasTests(project: ProjectFiles): boolean {
  return project.some((path) => /(^|\/)(test_[^/]*|[^/]*_test)\.py$/.test(path));
}

function requirementFiles(project: ProjectFiles): string[] {
  return [...project.existing("requirements.txt"), ...testRequirementFiles(project)];
}

function testRequirementFiles(project: ProjectFiles): string[] {
  const names = ["dev", "test", "tests", "testing"];
  return project.existing(
    ...names.flatMap((name) => [
      `requirements-${name}.txt`,
      `requirements_${name}.txt`,
      `${name}-requirements.txt`,
      `${name}_requirements.txt`,
      `requirements/${name}.txt`,
    ]),
  );
}

/** Returns the files that requirement files include: `-r base.txt`, `-c constraints.txt`. */
function includedFiles(project: ProjectFiles, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const directory = file.includes("/") ? `${file.slice(0, file.lastIndexOf("/"))}/` : "";
    const included = [...(project.text(file) ?? "").matchAll(/^\s*-[rc]\s*(\S+)/gm)];
    return project.existing(...included.map((match) => directory + (match[1] ?? "")));
  });
}
