import type { ActionDifferences, CommandDifference } from "#api/action-comparison.ts";
import { shownText } from "./shown-text.ts";
import "./compared-actions.css";
import { ScrollableTable } from "./scrollable-table.tsx";

interface Props {
  readonly of: ActionDifferences;
  /** The headings of the two columns of values. */
  readonly columns?: { readonly before: string; readonly after: string };
}

/** How two actions differ: input files, and parts of the command. */
export function Differences({ of, columns = { before: "Then", after: "Now" } }: Props) {
  const { command, inputs, isCut, isSameAction, unreadable } = of;
  if (isSameAction) {
    return (
      <p>
        It is the same action: command, environment, and input files are equal. They do not explain
        the different outcome.
      </p>
    );
  }
  return (
    <>
      {inputs.length === 0 ? null : (
        <>
          <h3>Input files</h3>
          <ul className="changed-paths">
            {inputs.map(({ path, change }) => (
              <li key={path}>
                <span className="faint">{change}</span> <code>{shownText(path)}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {command.length === 0 ? null : (
        <>
          <h3>Command</h3>
          <ScrollableTable label="Compared commands">
            <table className="figures">
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">{columns.before}</th>
                  <th scope="col">{columns.after}</th>
                </tr>
              </thead>
              <tbody>
                {command.map((one) => (
                  <tr key={`${one.part} ${one.name}`}>
                    <th scope="row">{nameOf(one)}</th>
                    <td>
                      <Value of={one.before} />
                    </td>
                    <td>
                      <Value of={one.after} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollableTable>
        </>
      )}
      {isCut ? <p className="faint">There may be more differences.</p> : null}
      {unreadable === null ? null : <p className="faint">{unreadable}</p>}
      {inputs.length === 0 && command.length === 0 && unreadable === null ? (
        <p>They differ only in what is not shown, such as values of secrets.</p>
      ) : null}
    </>
  );
}

function nameOf({ part, name }: CommandDifference): string {
  switch (part) {
    case "argument":
      return `argument ${name}`;
    case "environment":
      return `variable ${shownText(name)}`;
    case "platform":
      return `platform ${shownText(name)}`;
    case "working directory":
      return "working directory";
    case "setting":
      return name;
  }
}

function Value({ of }: { readonly of: string | null }) {
  return of === null ? <span className="faint">not there</span> : <code>{shownText(of)}</code>;
}
