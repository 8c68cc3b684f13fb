/** Writes the site below a directory; by default that which the server serves. */
export function buildDocs(outDir?: string): Promise<void>;
