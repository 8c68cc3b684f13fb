/** The decision of the kernel about a system call. */
export type Verdict = "allow" | { readonly errno: number };

interface SystemCall {
  readonly architecture: number;
  readonly number: number;
  /** Words of 32 bits are enough for the values that filters check. */
  readonly arguments?: readonly number[];
}

/**
 * Runs a filter of `struct sock_filter[]`, as linux/filter.h describes it, on a call. Throws when the kernel would
 * refuse the filter.
 */
export function runFilter(filter: Buffer, call: SystemCall): Verdict {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.architecture, 4);
  for (const [at, value] of (call.arguments ?? []).entries())
    data.writeUInt32LE(value, 16 + 8 * at);
  let loaded = 0;
  for (let at = 0; at * 8 < filter.length; at++) {
    const operation = filter.readUInt16LE(at * 8);
    const [ifTrue, ifFalse] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const operand = filter.readUInt32LE(at * 8 + 4);
    const skip = (holds: boolean) => (holds ? ifTrue : ifFalse);
    switch (operation) {
      case 0x20:
        loaded = data.readUInt32LE(operand);
        break;
      case 0x05:
        at += operand;
        break;
      case 0x15:
        at += skip(loaded === operand);
        break;
      case 0x25:
        at += skip(loaded > operand);
        break;
      case 0x45:
        at += skip((loaded & operand) !== 0);
        break;
      case 0x06:
        return verdictOf(operand);
      default:
        throw new Error(`an unknown operation, ${operation}`);
    }
  }
  throw new Error("the filter ends without a verdict");
}

function verdictOf(value: number): Verdict {
  const action = Math.floor(value / 0x1_0000);
  if (action === 0x7fff) return "allow";
  if (action === 5) return { errno: value % 0x1_0000 };
  throw new Error(`an unknown verdict, ${value}`);
}
