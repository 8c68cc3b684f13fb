import { Link } from "@tanstack/react-router";
import type { SizeClassAlternative, SizeClassDecision } from "#api/size-class.ts";
import { costText, riskText } from "./cost.ts";
import { durationText } from "./duration.ts";
import { shownText } from "./shown-text.ts";
import "./size-class-decision.css";
import { ScrollableTable } from "./scrollable-table.tsx";

/** A decision in plain words, with all its alternatives. */
export function DecisionStory({ decision }: { readonly decision: SizeClassDecision }) {
  return (
    <div className="decision-story">
      {decision.sentences.map((sentence, n) => (
        // Sentences are only identified by their position.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <p key={n}>{shownText(sentence)}</p>
      ))}
      <AlternativesTable decision={decision} />
    </div>
  );
}

function AlternativesTable({ decision }: { readonly decision: SizeClassDecision }) {
  const { alternatives, sizeClass } = decision;
  if (alternatives.length === 0) return null;
  const isDrawn = alternatives.some(({ probability }) => probability !== null);
  return (
    <ScrollableTable label="The possible choices">
      <table className="figures alternatives">
        <thead>
          <tr>
            <th scope="col">Size class</th>
            <th scope="col">Expected duration</th>
            <th scope="col" title="The duration is between these two with a probability of 80 %">
              Between
            </th>
            <th scope="col">Expected wait</th>
            <th
              scope="col"
              title="The cost of slot time and delay, including expected retries. Strategies compare this number."
            >
              Total cost
            </th>
            <th scope="col" title="The probability of a failure there">
              Risk
            </th>
            {isDrawn ? <th scope="col">Drawn with</th> : null}
          </tr>
        </thead>
        <tbody>
          {alternatives.map((each) => (
            <tr key={each.sizeClass} className={each.sizeClass === sizeClass ? "chosen" : ""}>
              <th scope="row">
                {each.sizeClass}
                {each.sizeClass === sizeClass ? <span className="badge">chosen</span> : null}
              </th>
              <AlternativeCells alternative={each} />
              {isDrawn ? (
                <td>{each.probability === null ? "–" : riskText(each.probability)}</td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function AlternativeCells({ alternative }: { readonly alternative: SizeClassAlternative }) {
  const { band, cost, expectedMs, risk, waitMs } = alternative;
  return (
    <>
      <td>{expectedMs === null ? "–" : durationText(expectedMs)}</td>
      <td>{band === null ? "–" : `${durationText(band.fastMs)} – ${durationText(band.slowMs)}`}</td>
      <td>{waitMs === 0 ? "not" : durationText(waitMs)}</td>
      <td>{cost === null ? "–" : costText(cost)}</td>
      <td>{risk === null ? "–" : riskText(risk)}</td>
    </>
  );
}

type Key = Pick<SizeClassDecision, "project" | "domain" | "key" | "level" | "title">;

const levelWords = {
  action: "this very command",
  target: "similar commands of its target",
  mnemonic: "actions of its kind",
  platform: "all actions of its platform",
} as const;

export const levelText = (level: Key["level"]): string => levelWords[level];

/** A link to the stored data of a key. */
export function KeyLink({ of, children }: { readonly of: Key; readonly children?: string }) {
  return (
    <Link
      to="/size-class-keys/$key"
      params={{ key: of.key }}
      search={{
        ...(of.project === "default" ? {} : { project: of.project }),
        // Without it the page shows the domain in which the key was last seen, which may be another one.
        domain: of.domain,
      }}
    >
      {children ?? keyName(of)}
    </Link>
  );
}

export function keyName({ key, title }: Pick<Key, "key" | "title">): string {
  return title === "" ? shownText(key) : shownText(title);
}
