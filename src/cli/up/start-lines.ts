/** Returns a line for each step of a farm's start, in the same form as the lines that `npm start` prints before. */
export function startLines(
  { database, server }: { readonly database: number; readonly server: number },
  workers: number,
  totalMs: number,
): string[] {
  const many = workers === 1 ? "1 worker" : `${workers} workers`;
  return [
    `Starting the database … ${seconds(database)}`,
    `Starting the server … ${seconds(server)}`,
    `Starting ${many}; the farm was ready after ${seconds(totalMs)}`,
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
