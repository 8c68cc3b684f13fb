import { mcpTools } from "./mcp-server.ts";

/** Returns the table of tools of docs/assistants.md, in Markdown. */
export function mcpToolsTable(): string {
  return [
    "| tool | does | arguments |",
    "|---|---|---|",
    ...mcpTools.map(({ name, description, input }) => {
      const names = Object.keys(input.shape).map((each) => `\`${each}\``);
      return `| \`${name}\` | ${description.replaceAll("|", "\\|")} | ${names.join(", ") || "–"} |`;
    }),
  ].join("\n");
}
