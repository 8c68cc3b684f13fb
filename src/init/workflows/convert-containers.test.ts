import { expect, test } from "vitest";
import { definitionsText } from "../write-definitions.ts";
import { convertWorkflows } from "./convert-workflows.ts";

function convert(keys: string, step = "{ run: make }") {
  const text = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n${keys}    steps: [${step}]\n`;
  return convertWorkflows(new Map([["ci.yml", text]]));
}

const reasonsOf = (converted: ReturnType<typeof convert>) =>
  converted.leftOut.map(({ where, reason }) => `${where}: ${reason}`);

test("a container becomes the job's image, and its steps run with sh", () => {
  const converted = convert(
    "    env: { B: job }\n    strategy: { matrix: { v: [3, 4] } }\n    container:\n      image: 'docker://ghcr.io/me/tool:${{ matrix.v }}'\n      env: { A: '${{ matrix.v }}', B: container }\n      credentials: { username: me, password: '${{ secrets.P }}' }\n      options: --user 1001\n",
    "{ run: make, env: { C: 1 } }",
  );

  expect(converted.jobs.map(({ image, commands, environment }) => [image, commands, environment]))
    // Variables of the job win over those of its container, as on GitHub.
    .toEqual([
      ["ghcr.io/me/tool:3", ["env C=1 sh -e -c 'make'"], { CI: "true", A: "3", B: "job" }],
      ["ghcr.io/me/tool:4", ["env C=1 sh -e -c 'make'"], { CI: "true", A: "4", B: "job" }],
    ]);
  expect(reasonsOf(converted)).toEqual([
    "ci.yml, job a, its container: left out: credentials; give the project a login for the registry",
    "ci.yml, job a, its container: left out: --user 1001",
  ]);
  expect(converted.notes).toEqual([
    "ci.yml: jobs run container images; allow them: GRANGE_WORKER_REGISTRIES=ghcr.io",
  ]);
});

test("an image has its own programs: those of the worker are not asked for", () => {
  const converted = convert(
    "    container: node:22\n",
    "{ uses: actions/setup-node@v4 }, { run: apt-get install -y libfoo-dev }, { run: make }",
  );

  expect(converted.tools).toEqual([]);
  expect(converted.notes).toEqual([
    "ci.yml: jobs run container images; allow them: GRANGE_WORKER_REGISTRIES=docker.io",
    "ci.yml: jobs in node:22 use the image's node",
    "ci.yml: use an image based on node:22 with libfoo-dev",
  ]);
});

test("services keep their image, variables and check of health, and their port is their own", () => {
  const converted = convert(
    "    services:\n      db:\n        image: postgres:17\n        env: { POSTGRES_PASSWORD: '${X}' }\n        ports: ['5432:5432', 80/tcp]\n        options: >-\n          --health-cmd \"pg_isready -U 'me'\"\n          --health-interval=10s --health-retries 5\n      cache: redis\n      none: { image: '' }\n",
    "{ run: './t ${{ job.services.db.ports[5432] }} ${{ job.services.db.ports['80'] }}' }".replaceAll(
      "'80'",
      "''80''",
    ),
  );

  expect(reasonsOf(converted)).toEqual([]);
  expect(definitionsText({ heading: [], jobs: converted.jobs })).toBe(`version: 1

jobs:
  ci/a:
    services:
      db:
        image: postgres:17
        environment:
          POSTGRES_PASSWORD: $\${X}
        ready:
          command: pg_isready -U 'me'
      cache:
        image: redis
    commands: ./t 5432 80
    environment:
      CI: "true"
    network: true
`);
});

test("a container that the matrix leaves empty is none", () => {
  const converted = convert(
    "    strategy: { matrix: { image: [''] } }\n    container: '${{ matrix.image }}'\n",
  );

  expect(converted.jobs.map(({ image, commands }) => [image, commands])).toEqual([
    [undefined, ["make"]],
  ]);
});

test.each([
  ["another port outside", "services: { db: { image: pg, ports: ['5433:5432'] } }", "at port 5433"],
  ["a range of ports", "services: { db: { image: pg, ports: ['1-9:1-9'] } }", "the port 1-9:1-9"],
  ["a port of UDP", "services: { db: { image: pg, ports: [53/udp] } }", "the port 53/udp"],
  ["volumes", "container: { image: a, volumes: ['/a:/b'] }", "its container has volumes"],
  ["its own command", "services: { db: { image: pg, command: x } }", "a command or an entrypoint"],
  ["a secret", "container: { image: a, env: { A: '${{ secrets.A }}' } }", "needs secrets.A"],
  ["no name of an image", "container: 'a b; rm -rf /'", "is not the name of an image"],
  ["a list", "container: [a]", "its container has an unexpected form"],
  ["computed services", "services: '${{ fromJSON(needs.a.outputs.s) }}'", "computed"],
  ["a name that is no host", "services: { My_DB: { image: pg } }", "My_DB needs another name"],
  ["the name of the job itself", "services: { localhost: { image: pg } }", "needs another name"],
  [
    "too many services",
    `services: { ${Array.from({ length: 17 }, (_, n) => `s${n}: pg`).join(", ")} }`,
    "more than 16 services",
  ],
  [
    "endless options",
    `container: { image: a, options: '${'"'.repeat(100_000)}' }`,
    "options of its container are too long",
  ],
])("a job whose container has %s is listed with the reason", (_, key, reason) => {
  const converted = convert(`    ${key}\n`);

  expect(converted.jobs).toEqual([]);
  expect(reasonsOf(converted).join()).toContain(reason);
});
