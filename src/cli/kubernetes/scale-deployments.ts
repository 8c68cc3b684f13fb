import { autoscalingEndpoints } from "#api/endpoints/autoscaling-endpoints.ts";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Session } from "../session.ts";
import { stopRequest } from "../stop-request.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { type KubernetesAddress, type KubernetesApi, openKubernetes } from "./kubernetes-api.ts";
import { planReplicas, type ReplicaPlan } from "./plan-replicas.ts";

const defaultPauseMs = 15_000;

export interface ScaleOptions extends Partial<Pick<KubernetesAddress, "apiServer" | "namespace">> {
  /** The pause between two rounds, in ms. */
  readonly every?: number;
  readonly once?: boolean;
  readonly dryRun?: boolean;
}

/**
 * Sets how many pods the Deployments of workers have, again and again until a signal. A failure is printed and tried
 * again with the next round; with `once` it ends the command.
 */
export async function scaleDeployments(options: ScaleOptions, session: Session): Promise<ExitCode> {
  const { apiServer, namespace } = options;
  const ownCluster = session.config.kubernetesApi;
  const kubernetes = await openKubernetes({ apiServer, namespace, ownCluster });
  if (options.once === true || options.dryRun === true) {
    for (const line of await scaleOnce(kubernetes, session, options.dryRun === true))
      session.terminal.answer.line(line);
    return exitCodes.ok;
  }
  const stopping = new AbortController();
  void stopRequest(false).received.then(() => stopping.abort());
  let earlier = new Set<string>();
  while (!stopping.signal.aborted) {
    const lines = await scaleOnce(kubernetes, session, false).catch((reason: unknown) => [
      messageOf(reason),
    ]);
    // What stays as it was is not printed again.
    for (const line of lines) if (!earlier.has(line)) session.terminal.answer.line(line);
    earlier = new Set(lines);
    await rest(options.every ?? defaultPauseMs, stopping.signal).catch(() => {});
  }
  return exitCodes.ok;
}

/** Returns a line for each change, and for each Deployment that stays as it is for a reason. */
async function scaleOnce(
  kubernetes: KubernetesApi,
  { api }: Session,
  isDryRun: boolean,
): Promise<string[]> {
  const [{ classes }, { deployments, remarks }] = await Promise.all([
    api.call(autoscalingEndpoints.autoscaling, {}),
    kubernetes.workerDeployments(),
  ]);
  const plan = planReplicas(deployments, classes);
  if (!isDryRun) await carryOut(plan, kubernetes);
  return [
    ...remarks,
    ...plan.remarks,
    ...plan.changes.map(
      ({ deployment, replicas, reason }) =>
        `${deployment}: ${replicas.from} -> ${replicas.to} replicas: ${printableLine(reason)}`,
    ),
  ];
}

/** Marks surplus pods first: the Deployment chooses by the marks when its number changes. */
async function carryOut({ changes }: ReplicaPlan, kubernetes: KubernetesApi): Promise<void> {
  for (const { deployment, replicas, surplus, noSurplus } of changes) {
    for (const pod of surplus) await kubernetes.setSurplus(pod, true);
    for (const pod of noSurplus) await kubernetes.setSurplus(pod, false);
    if (replicas.from !== replicas.to) await kubernetes.setReplicas(deployment, replicas.to);
  }
}
