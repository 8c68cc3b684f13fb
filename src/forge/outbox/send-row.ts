import type { CheckRun } from "../check-run.ts";
import type { Forge, ForgeChecks, ForgeComment, ForgeComments, ForgeSlug } from "../forge.ts";
import { asSent, hasMarker, isUntilReport, withMarker } from "./marker.ts";
import type { LeasedRow } from "./outbox.store.ts";
import { byRemoteId } from "./remote-order.ts";

interface SendingServices {
  readonly forge: Forge;
  readonly slug: ForgeSlug;
  /** Called before each call that creates an object; throws when the row's lease is lost. */
  readonly beforeMaking: () => void;
}

export interface SentRow {
  /** The forge's id of the object; null when it has none. */
  readonly remoteId: string | null;
  /** Node ids of comments that it makes superfluous. */
  readonly superfluous: readonly string[];
}

const sent: SentRow = { remoteId: null, superfluous: [] };

/**
 * Makes the forge show a row's content, independent of its current content. Repeating it changes nothing. A forge
 * without the capability shows nothing, and the row counts as sent.
 */
export async function sendRow(services: SendingServices, row: LeasedRow): Promise<SentRow> {
  const { forge, slug } = services;
  const { comments, checks, labels } = forge;
  const { content, key } = row;
  switch (content.kind) {
    case "comment": {
      if (comments === undefined) return sent;
      const body = withMarker(key, content.body);
      const placed = await placeComment(services, comments, content.pull, key, body);
      return { remoteId: placed.id, superfluous: superfluousFor(placed.ours) };
    }
    case "reply": {
      if (comments === undefined) return sent;
      const body = withMarker(key, content.body, content.isUntilReport);
      const { id } = await placeComment(services, comments, content.pull, key, body);
      return { ...sent, remoteId: id };
    }
    case "check":
      if (checks === undefined) return sent;
      return { ...sent, remoteId: await placeCheck(services, checks, content.check) };
    case "reaction":
      // A repeated reaction exists only once.
      await comments?.react(slug, content.comment, content.reaction);
      return sent;
    case "label": {
      if (labels === undefined) return sent;
      const isThere = (await labels.list(slug, content.pull)).includes(content.name);
      if (isThere === content.isThere) return sent;
      if (content.isThere) await labels.add(slug, content.pull, [content.name]);
      else await labels.remove(slug, content.pull, content.name);
      return sent;
    }
    case "minimise":
      await comments?.minimise(slug, content.node);
      return sent;
  }
}

/** Writes a comment once: the first one with our marker stays, and further ones are deleted. */
async function placeComment(
  { slug, beforeMaking }: SendingServices,
  comments: ForgeComments,
  pull: number,
  key: string,
  body: string,
): Promise<{ readonly id: string; readonly ours: readonly ForgeComment[] }> {
  const ours = (await comments.ofPull(slug, pull)).filter(({ isOurs }) => isOurs);
  const [first, ...doubles] = ours
    .filter((comment) => hasMarker(comment.body, key))
    .toSorted(byRemoteId);
  if (first === undefined) {
    beforeMaking();
    return { id: (await comments.create(slug, pull, body)).id, ours };
  }
  if (asSent(first.body) !== body) await comments.update(slug, first.id, body);
  for (const { id } of doubles) await comments.delete(slug, id);
  return { id: first.id, ours };
}

/** A check run cannot be removed, so duplicates get the same content. */
async function placeCheck(
  { slug, beforeMaking }: SendingServices,
  checks: ForgeChecks,
  check: CheckRun,
): Promise<string> {
  const ours = (await checks.list(slug, check.sha))
    .filter(({ externalId }) => externalId === check.externalId)
    .toSorted(byRemoteId);
  const [first] = ours;
  if (first === undefined) {
    beforeMaking();
    return checks.create(slug, check);
  }
  for (const { id } of ours) await checks.update(slug, id, check);
  return first.id;
}

/** Answers to commands that wait for this report. */
function superfluousFor(comments: readonly ForgeComment[]): string[] {
  return comments.filter(({ body }) => isUntilReport(body)).map(({ nodeId }) => nodeId);
}
