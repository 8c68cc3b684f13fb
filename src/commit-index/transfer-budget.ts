import { byDensity, type Transfer } from "./choose-in-time.ts";
import type { TransferLimits } from "./order-transfer.ts";

/** The remaining budget for fetches. */
interface TransferBudget {
  /** Takes a transfer from the remaining budget; returns false when it does not fit. */
  take(transfer: Transfer<unknown>): boolean;
  /** Returns all of them, or those that save most per byte, in their order. */
  keep<Item>(
    transfers: readonly Transfer<Item>[],
    leave: (transfer: Transfer<Item>) => void,
  ): readonly Transfer<Item>[];
}

export function openBudget(limits: TransferLimits): TransferBudget {
  let { bytes, results } = limits;

  function take(transfer: Transfer<unknown>): boolean {
    if (transfer.bytes > bytes || results < 1) return false;
    bytes -= transfer.bytes;
    results--;
    return true;
  }

  return {
    take,

    keep(transfers, leave) {
      const wantedBytes = transfers.reduce((sum, one) => sum + one.bytes, 0);
      const isAll = transfers.length <= results && wantedBytes <= bytes;
      const kept = new Set<Transfer<unknown>>();
      for (const transfer of isAll ? transfers : [...transfers].sort(byDensity)) {
        if (take(transfer)) kept.add(transfer);
        else leave(transfer);
      }
      return transfers.filter((transfer) => kept.has(transfer));
    },
  };
}
