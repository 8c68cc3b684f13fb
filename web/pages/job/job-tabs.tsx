import type { JobDetail } from "#api/graph.ts";
import { type JobView, jobViews } from "./search.ts";

interface Props {
  readonly detail: JobDetail;
  readonly view: JobView;
  readonly onView: (view: JobView) => void;
}

export function JobTabs({ detail, view, onView }: Props) {
  const { origin, runList, job } = detail;
  const words: Readonly<Record<JobView, string>> = {
    runs: `Runs ${runList.length === 0 ? "" : runList.length}`.trim(),
    definition: job.customised ? "Definition, customised" : "Definition",
    origin: origin.audit.length === 0 ? "Origin" : `Origin, ${changesText(origin.audit.length)}`,
  };
  return (
    <div className="job-tabs segments" role="group" aria-label="Views of the job">
      {jobViews.map((each) => (
        <button key={each} type="button" aria-pressed={each === view} onClick={() => onView(each)}>
          {words[each]}
        </button>
      ))}
    </div>
  );
}

const changesText = (count: number) => (count === 1 ? "1 change" : `${count} changes`);
