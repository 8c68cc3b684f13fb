import { createHmac } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Service } from "#core/service.ts";
import {
  type DeliveryState,
  type FakeState,
  installationId,
  newGuid,
  type RepositoryState,
  record,
} from "./fake-state.ts";

/**
 * Sends webhooks as GitHub does: once, with a timeout of ten seconds; and loses a share of them.
 */
export interface WebhookSender extends Service {
  /** Sends no events to which the app did not subscribe. */
  emit(event: string, payload: object, repository?: RepositoryState): void;
  again(id: bigint): boolean;
  counts(): { made: number; lost: number; doubled: number; taken: number };
  /** Resolves when no webhook is being sent. */
  sent(): Promise<void>;
}

/** A delayed webhook is sent after this number of later ones, or after a time without others. */
const mostLater = 8;
const heldMs = 300;
const answerWithinMs = 10_000;

export function webhookSender(state: FakeState): WebhookSender {
  const queue: DeliveryState[] = [];
  const held: { delivery: DeliveryState; later: number }[] = [];
  const count = { made: 0, lost: 0, doubled: 0, taken: 0 };
  const stopping = new AbortController();
  const under = new Set<Promise<void>>();
  let waiting: (() => void)[] = [];
  let release: NodeJS.Timeout | undefined;
  // Too large for an exact double, and for a time in nanoseconds as well.
  let lastId = 9_100_000_000_000_000_001n;

  const releaseHeld = () => {
    queue.push(...held.splice(0).map((one) => one.delivery));
    pump();
  };
  const pump = () => {
    // One at a time preserves the order of events, unless the order is to be changed.
    const concurrent = state.faults.webhookReorder > 0 ? 6 : 1;
    while (under.size < concurrent && !stopping.signal.aborted) {
      const next = queue.shift();
      if (next === undefined) break;
      const sending: Promise<void> = send(next).finally(() => {
        under.delete(sending);
        for (const one of held) one.later--;
        for (let at = held.length - 1; at >= 0; at--) {
          const one = held[at];
          if (one !== undefined && one.later <= 0) {
            held.splice(at, 1);
            queue.push(one.delivery);
          }
        }
        pump();
      });
      under.add(sending);
    }
    clearTimeout(release);
    if (held.length > 0 && queue.length === 0) release = setTimeout(releaseHeld, heldMs);
    if (queue.length + held.length + under.size === 0 || stopping.signal.aborted) {
      for (const resolve of waiting) resolve();
      waiting = [];
    }
  };

  const send = async (delivery: DeliveryState) => {
    const { url, secret } = state.webhook;
    if (url === undefined) return;
    const body = inflateRawSync(delivery.body);
    const sign = (algorithm: string) =>
      `${algorithm}=${createHmac(algorithm, secret ?? "")
        .update(body)
        .digest("hex")}`;
    try {
      const answer = await fetch(url, {
        method: "POST",
        body,
        redirect: "manual",
        headers: {
          "content-type": "application/json",
          "user-agent": "GitHub-Hookshot/fa4e0fa",
          "x-github-event": delivery.event,
          "x-github-delivery": delivery.guid,
          "x-github-hook-id": "1",
          "x-github-hook-installation-target-id": String(state.appId),
          "x-github-hook-installation-target-type": "integration",
          ...(secret === undefined
            ? {}
            : { "x-hub-signature": sign("sha1"), "x-hub-signature-256": sign("sha256") }),
        },
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(answerWithinMs)]),
      });
      await answer.arrayBuffer();
      delivery.statusCode = answer.status;
      delivery.status = answer.ok ? "OK" : `Invalid HTTP Response: ${answer.status}`;
      if (answer.ok) count.taken++;
    } catch {
      delivery.statusCode = 502;
      delivery.status = "failed to connect to host";
    }
    delivery.isListed = true;
  };

  const add = (delivery: DeliveryState) => {
    const { webhookLoss, webhookDouble, webhookReorder } = state.faults;
    count.made++;
    state.deliveries.push(delivery);
    if (state.draw() < webhookLoss) {
      count.lost++;
      // Half of the lost ones are never listed: the forge itself has no record of them.
      delivery.isListed = state.draw() < 0.5;
      delivery.statusCode = 504;
      delivery.status = "timed out";
      return;
    }
    const isHeld = state.draw() < webhookReorder;
    if (isHeld) held.push({ delivery, later: 1 + Math.floor(state.draw() * mostLater) });
    else queue.push(delivery);
    if (state.draw() < webhookDouble) {
      count.doubled++;
      queue.push({ ...delivery });
    }
  };

  const make = (
    event: string,
    body: Buffer,
    action: string | null,
    guid: string,
    isAgain: boolean,
    of: { repositoryId: number | null; installationId: number | null },
  ): DeliveryState => ({
    id: lastId++,
    guid,
    event,
    action,
    body,
    at: state.now(),
    isAgain,
    ...of,
    status: "pending",
    statusCode: 0,
    isListed: false,
  });

  return {
    emit(event, payload, repository) {
      if (state.webhook.url === undefined) return;
      if (event !== "ping" && !state.events.includes(event)) return;
      if (repository?.isInstalled === false) return;
      const { action } = payload as { action?: string };
      add(
        make(
          event,
          deflateRawSync(JSON.stringify(payload), { level: 1 }),
          action ?? null,
          newGuid(),
          false,
          {
            repositoryId: repository?.id ?? null,
            installationId:
              repository === undefined ? null : installationId(state, repository.owner),
          },
        ),
      );
      pump();
    },
    again(id) {
      const old = state.deliveries.find((one) => one.id === id && one.isListed);
      if (old === undefined) return false;
      record(state, {
        what: "delivery asked for again",
        repository: "",
        pull: undefined,
        id: String(id),
        text: old.guid,
      });
      add(make(old.event, old.body, old.action, old.guid, true, old));
      pump();
      return true;
    },
    counts: () => ({ ...count }),
    sent() {
      if (queue.length + held.length + under.size === 0) return Promise.resolve();
      const done = new Promise<void>((resolve) => waiting.push(resolve));
      if (queue.length + under.size === 0) releaseHeld();
      return done;
    },
    async stop() {
      stopping.abort();
      clearTimeout(release);
      queue.length = 0;
      held.length = 0;
      await Promise.allSettled(under);
      pump();
    },
  };
}
