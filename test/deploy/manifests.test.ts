// The chart and compose.yaml, without Helm and Docker: what they name exists in the program and in the values.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { needs } from "../support/needs/needs.ts";
import { findProgram } from "../support/needs/program.ts";
import { runProgram } from "../support/process.ts";
import { refusal } from "../support/refusal-of-command.ts";

const deploy = join(import.meta.dirname, "..", "..", "deploy");
const chart = join(deploy, "helm", "grange");
const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const templates = readdirSync(join(chart, "templates")).map((name) => ({
  name,
  text: read(chart, "templates", name),
}));
const values = parse(read(chart, "values.yaml")) as Record<string, unknown>;
const settings = read(deploy, "..", "docs", "settings.md");

/** Returns the value at a path such as `server.replicas`; undefined when a part is missing. */
function at(path: string, from: unknown): unknown {
  return path
    .split(".")
    .reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], from);
}

test("each value that a template names is in values.yaml", () => {
  const missing = templates.flatMap(({ name, text }) =>
    Array.from(text.matchAll(/\.Values\.([A-Za-z.]+)/g), ([, path = ""]) => path)
      .filter((path) => at(path, values) === undefined)
      .map((path) => `${name}: ${path}`),
  );
  const [group] = values["workers"] as Record<string, unknown>[];
  const missingOfGroups = templates.flatMap(({ text }) =>
    Array.from(text.matchAll(/\$group\.([A-Za-z]+)/g), ([, key = ""]) => key).filter(
      (key) => group?.[key] === undefined,
    ),
  );

  expect(missing).toEqual([]);
  expect(missingOfGroups).toEqual([]);
});

test("each variable of Grange in chart and compose.yaml is a documented setting", () => {
  const texts = [...templates.map(({ text }) => text), read(deploy, "compose.yaml")].join("\n");
  // These three are variables of compose.yaml itself.
  const own = ["GRANGE_IMAGE", "GRANGE_WORKER_IMAGE", "GRANGE_LISTEN"];
  const named = new Set(texts.match(/\bGRANGE_[A-Z_]+\b/g));
  const documented = (name: string) =>
    settings.includes(`\`${name}\``) ||
    (name.startsWith("GRANGE_STORE_") && settings.includes(`\`${name.slice(12)}\``)) ||
    (/^GRANGE_(WORKER|DRAIN|GRACE)_?/.test(name) &&
      settings.includes(`\`${name.replace(/^GRANGE_WORKER/, "")}\``));

  expect([...named].filter((name) => !own.includes(name) && !documented(name))).toEqual([]);
});

interface Service {
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly unknown[] };
}

test("compose.yaml starts commands that the program takes", async () => {
  const { services } = parse(read(deploy, "compose.yaml")) as { services: Record<string, Service> };
  const commands = [services["server"]?.command ?? [], services["worker"]?.command ?? []];

  const refused = await Promise.all(
    commands.map((words) =>
      refusal(words.map((word) => word.replaceAll(/\$\{[A-Z_]+:-([^}]*)\}/g, "$1"))),
    ),
  );

  expect(commands.flat()).toContain("server");
  expect(refused).toEqual([undefined, undefined]);
});

test("the health check in compose.yaml succeeds only while /readyz answers 200", async () => {
  const { services } = parse(read(deploy, "compose.yaml")) as { services: Record<string, Service> };
  const [how, program, ...words] = z.array(z.string()).parse(services["server"]?.healthcheck?.test);
  let status = 200;
  const farm = createServer((request, response) => {
    response.writeHead(request.url === "/readyz" ? status : 404).end();
  });
  await new Promise<void>((resolve) => {
    farm.listen(0, "127.0.0.1", resolve);
  });
  const { port } = farm.address() as AddressInfo;
  const check = () =>
    runProgram(
      program ?? "",
      words.map((word) => word.replace("8980", String(port))),
    );

  const ready = await check();
  status = 503;
  const stopping = await check();
  await new Promise((resolve) => {
    farm.close(resolve);
  });
  const gone = await check();

  expect(how).toBe("CMD");
  expect([ready.code, stopping.code, gone.code]).toEqual([0, 1, 1]);
});

const helm = process.env["GRANGE_HELM"] ?? findProgram("helm");
/** It reads the schemas of Kubernetes from the network. */
const kubeconform = process.env["GRANGE_KUBECONFORM"];
const helmNeed = {
  name: "Helm",
  missing: helm === undefined ? "not installed, and GRANGE_HELM names none" : undefined,
  remedy: { kind: "command", command: "go install helm.sh/helm/v3/cmd/helm@v3.16.4" },
} as const;

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: { readonly containers: readonly { readonly args: string[] }[] };
    };
  };
}

describe("the chart", needs(helmNeed), () => {
  const usual = {
    image: { repository: "registry.example/grange" },
    database: { existingSecret: "grange-database" },
  };
  const everything = {
    server: {
      replicas: 2,
      bucket: { url: "s3://blobs", endpoint: "https://s3.example", credentialsSecret: "bucket" },
      tlsSecret: "tls",
      caSecret: "authority",
      publicUrl: "https://farm.example",
    },
    keys: { existingSecret: "keys" },
    worker: { tokenSecret: "workers" },
    autoscaler: { enabled: true, tokenSecret: "autoscaler" },
    ingress: { enabled: true, host: "farm.example" },
    workers: [{ name: "small", sizeClass: 1, replicas: 2, slots: 2, platform: { pool: "ci" } }],
  };
  const render = (more: object = {}): KubernetesObject[] => {
    // A Helm that `go install` built believes in an old version of Kubernetes.
    const words = ["template", "farm", chart, "--kube-version", "1.33.0", "--values", "-"];
    const text = execFileSync(helm ?? "helm", words, {
      input: JSON.stringify({ ...usual, ...more }),
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
    if (kubeconform !== undefined)
      execFileSync(kubeconform, ["-strict", "-summary", "-"], { input: text, stdio: "pipe" });
    return parseAllDocuments(text).flatMap((document) => {
      const object = document.toJS() as KubernetesObject | null;
      return object === null ? [] : [object];
    });
  };

  test("makes a server, its service, its volume and a group of workers", () => {
    const kinds = render().map(({ kind, metadata }) => `${kind} ${metadata.name}`);

    expect(kinds.toSorted()).toEqual([
      "Deployment farm-grange",
      "Deployment farm-grange-worker-small",
      "PersistentVolumeClaim farm-grange-data",
      "PodDisruptionBudget farm-grange",
      "PodDisruptionBudget farm-grange-worker-small",
      "Service farm-grange",
    ]);
  });

  test("starts commands that the program takes, with every feature on", async () => {
    const commands = render(everything).flatMap(
      ({ spec }) => spec?.template?.spec.containers.map(({ args }) => args) ?? [],
    );

    expect(new Set(commands.map(([name]) => name))).toEqual(
      new Set(["autoscaling", "server", "worker"]),
    );
    for (const words of commands) expect(await refusal(words)).toBeUndefined();
  });

  test("leaves the number of workers to the autoscaler when there is one", () => {
    const workers = (objects: readonly KubernetesObject[]) =>
      objects.find(
        ({ kind, metadata }) => kind === "Deployment" && metadata.name.endsWith("worker-small"),
      )?.spec?.replicas;

    expect(workers(render())).toBe(2);
    expect(workers(render(everything))).toBeUndefined();
  });

  test.each([
    { values: { server: { replicas: 2 } }, why: "set server.bucket.url" },
    { values: { server: { bucket: { url: "s3://b" } } }, why: "bucket.credentialsSecret" },
    {
      values: { server: { bucket: { url: "s3://b" }, blobs: { existingClaim: "c" } } },
      why: "the blobs are in one place",
    },
    {
      values: { server: { replicas: 2, blobs: { existingClaim: "blobs" } } },
      why: "set keys.existingSecret",
    },
    { values: { server: { access: "closed" } }, why: "access" },
    { values: { image: { repository: "" } }, why: "repository" },
  ])("refuses $values, and says what to set", ({ values: wrong, why }) => {
    expect(() => render(wrong)).toThrow(why);
  });
});
