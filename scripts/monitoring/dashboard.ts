import { type Panel, panelRows } from "./panels.ts";

/** Panels in one row of Grafana's grid, which has 24 columns. */
const panelsInRow = 4;
const panelHeight = 8;

/** Returns the dashboard as JSON of Grafana 10 and later. The data source is a variable of the dashboard. */
export function dashboardJson(): string {
  let id = 0;
  const nextId = () => (id += 1);
  const panels = panelRows.flatMap(({ title, panels: shown }, index) => {
    const y = index * (panelHeight + 1);
    return [
      {
        id: nextId(),
        type: "row",
        title,
        collapsed: false,
        panels: [],
        gridPos: { h: 1, w: 24, x: 0, y },
      },
      ...shown.map((panel, column) => panelJson(panel, nextId(), column, y + 1)),
    ];
  });
  const dashboard = {
    uid: "grange",
    title: "Grange",
    tags: ["grange"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "source", label: "Data source", type: "datasource", query: "prometheus" }],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function panelJson(
  { title, description, kind, unit, queries }: Panel,
  id: number,
  column: number,
  y: number,
) {
  const w = 24 / panelsInRow;
  return {
    id,
    type: kind,
    title,
    ...(description === undefined ? {} : { description }),
    datasource: { type: "prometheus", uid: "${source}" },
    gridPos: { h: panelHeight, w, x: column * w, y },
    fieldConfig: {
      defaults: { unit, ...(unit === "dateTimeFromNow" ? {} : { min: 0 }) },
      overrides: [],
    },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      expr,
      legendFormat: legend,
    })),
  };
}
