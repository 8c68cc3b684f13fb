import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ForgeDeliveryView, ForgeHead, ForgePull, ForgeUnsent } from "#api/forge.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { Ago } from "../../parts/times.tsx";

/** Branches and tags with a graph, or with a failed one. */
export function HeadTable({ heads }: { readonly heads: readonly ForgeHead[] }) {
  const shown = heads.filter(({ graph, problem }) => graph !== null || problem !== null);
  return (
    <Table
      title="Branches and tags"
      columns={["Ref", "Commit", "Graph"]}
      isEmpty={shown.length === 0}
    >
      {shown.map(({ ref, head, graph, problem }) => (
        <tr key={ref}>
          <td>{ref}</td>
          <td>
            <Commit sha={head} />
          </td>
          <td className="words">{problem ?? <GraphLink id={graph} />}</td>
        </tr>
      ))}
    </Table>
  );
}

export function PullTable({ pulls }: { readonly pulls: readonly ForgePull[] }) {
  return (
    <Table
      title="Pull requests"
      columns={["No.", "Title", "By", "State", "Commit", "Graph"]}
      isEmpty={pulls.length === 0}
    >
      {pulls.map((pull) => (
        <tr key={pull.number}>
          <td className="number">{pull.number}</td>
          <td className="words">{pull.title}</td>
          <td>
            {pull.author}
            {pull.isFork ? <span className="faint"> · fork</span> : null}
          </td>
          <td>{pull.state}</td>
          <td>
            <Commit sha={pull.head} />
          </td>
          <td className={pull.problem === null ? undefined : "words"}>
            {pull.problem ?? (pull.isHeld ? "waits for approval" : <GraphLink id={pull.graph} />)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function DeliveryTable({
  deliveries,
}: {
  readonly deliveries: readonly ForgeDeliveryView[];
}) {
  return (
    <Table
      title="Received webhooks"
      columns={["When", "Event", "State", "Trouble"]}
      isEmpty={deliveries.length === 0}
    >
      {deliveries.map(({ id, event, receivedAt, state, error }) => (
        <tr key={id}>
          <td>
            <Ago time={receivedAt} />
          </td>
          <td>{event}</td>
          <td>{state}</td>
          <td className="words">{error}</td>
        </tr>
      ))}
    </Table>
  );
}

export function UnsentTable({ unsent }: { readonly unsent: readonly ForgeUnsent[] }) {
  return (
    <Table
      title="Reports not delivered to the forge yet"
      columns={["What", "Tries", "Next", "Trouble"]}
      isEmpty={unsent.length === 0}
    >
      {unsent.map(({ key, attempts, nextAt, failedAt, error }) => (
        <tr key={key}>
          <td>{key}</td>
          <td className="number">{attempts}</td>
          <td>{failedAt === null ? <At time={nextAt} /> : "given up"}</td>
          <td className="words">{error}</td>
        </tr>
      ))}
    </Table>
  );
}

function Table({
  title,
  columns,
  isEmpty,
  children,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  readonly isEmpty: boolean;
  readonly children: ReactNode;
}) {
  if (isEmpty) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ScrollableTable label={title}>
        <table className="figures">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}

function At({ time }: { readonly time: string }) {
  const at = new Date(time);
  return (
    <time dateTime={time} title={at.toLocaleString()}>
      {at.toLocaleTimeString()}
    </time>
  );
}

function Commit({ sha }: { readonly sha: string }) {
  return <code title={sha}>{sha.slice(0, 10)}</code>;
}

function GraphLink({ id }: { readonly id: string | null }) {
  if (id === null) return <span className="faint">none</span>;
  return (
    <Link to="/graphs/$id" params={{ id }}>
      {id.slice(0, 8)}
    </Link>
  );
}
