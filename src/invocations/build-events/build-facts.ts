import type { BuildUpdate, NamedFile } from "./build-update.ts";
import { type SourceHints, type SourceOfBuild, sourceOfBuild } from "./source-of-build.ts";

/** The facts about a build as a whole. */
export interface BuildFacts extends SourceHints, SourceOfBuild {
  readonly complete: boolean;
  readonly command: string;
  readonly toolVersion: string;
  readonly patterns: readonly string[];
  readonly options: readonly string[];
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly exitCode: number | null;
  readonly exitName: string | null;
  readonly result: string | null;
  readonly failure: string | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly profile: NamedFile | null;
}

/** Returns the facts with an update applied; the same object when the update changes nothing. */
export function learn(facts: BuildFacts, news: BuildUpdate): BuildFacts {
  switch (news.kind) {
    case "started": {
      const { command, toolVersion, patterns, startedAt = null } = news;
      return { ...facts, command, toolVersion, patterns, startedAt };
    }
    case "options":
      return { ...facts, options: news.options };
    case "keywords":
      return withSource({ ...facts, keywords: news.keywords });
    case "metadata":
      return withSource({ ...facts, metadata: news.pairs });
    case "workspaceStatus":
      return withSource({ ...facts, workspaceStatus: news.pairs });
    case "failure":
      return facts.failure === null ? { ...facts, failure: news.sentence } : facts;
    case "finished": {
      const { exitCode, exitName, finishedAt = null } = news;
      // The failure of an action or a target is more precise than the summary.
      const failure = exitCode === 0 ? null : facts.failure || news.failure || null;
      return { ...facts, exitCode, exitName, finishedAt, failure };
    }
    case "result":
      return {
        ...facts,
        result: news.result,
        failure: facts.failure === endedUnsaid ? null : facts.failure,
      };
    case "metrics":
      return { ...facts, metrics: { ...news.metrics, ...unreadable(unreadableIn(facts)) } };
    case "unreadable":
      return { ...facts, metrics: { ...facts.metrics, ...unreadable(unreadableIn(facts) + 1) } };
    case "profile":
      return { ...facts, profile: news.file };
    case "complete": {
      // As after a wrong instance name or token: the build ended at its first call, before it built anything.
      const isUnsaid = facts.exitCode === null && facts.result === null && facts.failure === null;
      return { ...facts, complete: true, failure: isUnsaid ? endedUnsaid : facts.failure };
    }
    case "printed":
    case "blob":
    case "target":
    case "fileSet":
    case "test":
      return facts;
  }
}

const endedUnsaid =
  "the tool ended without saying how its build went, as it does when its first call is refused: its log says why";

/** A metric among the tool's own, none of which has this name. */
const unreadableMetric = "unreadableEvents";

/** Returns how many events of a build could not be read. */
export function unreadableIn({ metrics }: Pick<BuildFacts, "metrics">): number {
  return metrics[unreadableMetric] ?? 0;
}

function unreadable(count: number): Record<string, number> {
  return count === 0 ? {} : { [unreadableMetric]: count };
}

function withSource(facts: BuildFacts): BuildFacts {
  return { ...facts, ...sourceOfBuild(facts) };
}
