import type { Db, Tx } from "#db/db.ts";

interface TimedStatement {
  /** The first words of the statement. */
  readonly what: string;
  readonly ms: number;
}

export interface TimedTransaction {
  readonly ms: number;
  readonly statements: readonly TimedStatement[];
}

/** A database that records the durations of its transactions and statements. */
export function timedDb(db: Db): Db & { readonly transactions: TimedTransaction[] } {
  const transactions: TimedTransaction[] = [];
  return {
    ...db,
    many: (row, statement) => db.many(row, statement),
    run: (statement) => db.run(statement),
    script: (text) => db.script(text),
    listen: (channel, heard) => db.listen(channel, heard),
    close: () => db.close(),
    transactions,
    async transaction(work) {
      const statements: TimedStatement[] = [];
      const began = performance.now();
      try {
        return await db.transaction((tx) => work(timedTx(tx, statements)));
      } finally {
        transactions.push({ ms: performance.now() - began, statements });
      }
    },
  };
}

function timedTx(tx: Tx, statements: TimedStatement[]): Tx {
  const timed = async <T>(text: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      return await work();
    } finally {
      const what = text.trim().replaceAll(/\s+/g, " ").slice(0, 90);
      statements.push({ what, ms: performance.now() - began });
    }
  };
  return {
    many: (row, statement) => timed(statement.text, () => tx.many(row, statement)),
    run: (statement) => timed(statement.text, () => tx.run(statement)),
    script: (text) => timed(text, () => tx.script(text)),
  };
}
