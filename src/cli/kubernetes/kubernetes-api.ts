import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { Platform } from "#core/platform.ts";
import {
  type HttpAnswer,
  type HttpRequest,
  requestSender,
  type SendRequest,
} from "../api/send-request.ts";
import type { WorkerDeployment } from "./plan-replicas.ts";

/** Where Kubernetes puts the credentials of a pod. */
const ownCredentials = "/var/run/secrets/kubernetes.io/serviceaccount";
/** A Deployment has these on itself; its pods need none of them. */
const workersLabel = "grange/workers=true";
const platformAnnotation = "grange/platform";
const sizeClassAnnotation = "grange/size-class";
const costAnnotation = "controller.kubernetes.io/pod-deletion-cost";
const longestAnswerMs = 30_000;

/** Kubernetes' API, reduced to what scaling needs. */
export interface KubernetesApi {
  /** Returns the Deployments of workers, and a remark for each that has no valid annotations. */
  workerDeployments(): Promise<{ deployments: WorkerDeployment[]; remarks: string[] }>;
  setReplicas(deployment: string, replicas: number): Promise<void>;
  /** A surplus pod is the first that its Deployment stops. A pod that is gone is no error. */
  setSurplus(pod: string, isSurplus: boolean): Promise<void>;
}

const Metadata = z.object({
  name: z.string(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const Deployments = z.object({
  items: z.array(
    z.object({
      metadata: Metadata,
      spec: z.object({
        replicas: z.number().int().nonnegative().default(1),
        selector: z.object({ matchLabels: z.record(z.string(), z.string()).default({}) }),
      }),
    }),
  ),
});
const Pods = z.object({
  items: z.array(z.object({ metadata: Metadata })),
});
const SizeClass = z.coerce.number().int().positive();

export interface KubernetesAddress {
  /** The address of `kubectl proxy`, which needs no token; undefined: that of the cluster in which this pod runs. */
  readonly apiServer: string | undefined;
  readonly namespace: string | undefined;
  /** The API of the cluster in which this process is a pod; undefined elsewhere. */
  readonly ownCluster: string | undefined;
}

/** Connects to the API with the credentials of this pod, or through `kubectl proxy`. */
export async function openKubernetes(address: KubernetesAddress): Promise<KubernetesApi> {
  const { apiServer, namespace: given, ownCluster } = address;
  if (apiServer !== undefined)
    return kubernetesApi(apiServer, given ?? "default", () => Promise.resolve({}), requestSender());
  if (ownCluster === undefined)
    throw new Fault(
      "failed_precondition",
      "this process does not run in a pod of Kubernetes: start `kubectl proxy`, and give its address with --api-server",
    );
  const read = (name: string) => readFile(join(ownCredentials, name), "utf8");
  const namespace = given ?? (await read("namespace")).trim();
  // Kubernetes replaces the token about once an hour.
  const headers = async () => ({ authorization: `Bearer ${(await read("token")).trim()}` });
  return kubernetesApi(ownCluster, namespace, headers, requestSender({ ca: await read("ca.crt") }));
}

function kubernetesApi(
  origin: string,
  namespace: string,
  headers: () => Promise<Record<string, string>>,
  sendRequest: SendRequest,
): KubernetesApi {
  const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const pods = `/api/v1/namespaces/${namespace}/pods`;

  async function send(path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const all = { ...(await headers()), ...request.headers };
    const signal = AbortSignal.timeout(longestAnswerMs);
    try {
      return await sendRequest(`${origin}${path}`, { ...request, headers: all, signal });
    } catch (cause) {
      throw new Fault("unavailable", `Kubernetes does not answer: ${messageOf(cause)}`, { cause });
    }
  }

  async function list<Shape extends z.ZodType>(shape: Shape, path: string, selector: string) {
    const answer = await send(`${path}?labelSelector=${encodeURIComponent(selector)}`);
    const text = await answer.text();
    if (!answer.isOk) throw refused("list", path, answer.status, text);
    return shape.parse(JSON.parse(text)) as z.output<Shape>;
  }

  async function patch(path: string, body: unknown, ignoresMissing = false): Promise<void> {
    const answer = await send(path, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.isOk || (ignoresMissing && answer.status === 404)) return;
    throw refused("change", path, answer.status, text);
  }

  return {
    async workerDeployments() {
      const deployments: WorkerDeployment[] = [];
      const remarks: string[] = [];
      for (const { metadata, spec } of (await list(Deployments, apps, workersLabel)).items) {
        const read = readAnnotations(metadata.annotations ?? {});
        if (read === undefined) {
          remarks.push(
            `${metadata.name}: it needs the annotations ${platformAnnotation}, such as OSFamily=linux,ISA=x86-64, and ${sizeClassAnnotation}`,
          );
          continue;
        }
        const selector = Object.entries(spec.selector.matchLabels)
          .map(([name, value]) => `${name}=${value}`)
          .join(",");
        const found = await list(Pods, pods, selector);
        deployments.push({
          ...read,
          name: metadata.name,
          replicas: spec.replicas,
          pods: found.items.map(({ metadata: { name, annotations } }) => ({
            name,
            isSurplus: annotations?.[costAnnotation] === "-1",
          })),
        });
      }
      return { deployments, remarks };
    },
    setReplicas: (deployment, replicas) =>
      patch(`${apps}/${deployment}/scale`, { spec: { replicas } }),
    setSurplus: (pod, isSurplus) =>
      patch(
        `${pods}/${pod}`,
        { metadata: { annotations: { [costAnnotation]: isSurplus ? "-1" : "0" } } },
        true,
      ),
  };
}

function readAnnotations(
  annotations: Readonly<Record<string, string>>,
): Pick<WorkerDeployment, "platform" | "sizeClass"> | undefined {
  const sizeClass = SizeClass.safeParse(annotations[sizeClassAnnotation]);
  const pairs = (annotations[platformAnnotation] ?? "").split(",").map((pair) => pair.split("="));
  const platform = Platform.safeParse(
    Object.fromEntries(pairs.map(([name = "", value]) => [name.trim(), value?.trim()])),
  );
  if (!sizeClass.success || !platform.success) return undefined;
  return { sizeClass: sizeClass.data, platform: platform.data };
}

function refused(verb: string, path: string, status: number, text: string): Fault {
  const code = status === 403 || status === 401 ? "permission_denied" : "unavailable";
  return new Fault(
    code,
    `Kubernetes refused to ${verb} ${path}: HTTP ${status} ${text.slice(0, 300)}`,
  );
}
