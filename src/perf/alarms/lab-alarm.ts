/** Something that whoever looks after a lab is to hear of. */
export type LabAlarm =
  | { readonly kind: "collector-silent"; readonly collector: string }
  | { readonly kind: "collector-out-of-duty"; readonly collector: string; readonly why: string };

/** Returns what an alarm says to people: what happened, and what to do. */
export function alarmSentence(alarm: LabAlarm): string {
  const { collector } = alarm;
  switch (alarm.kind) {
    case "collector-silent":
      return `Collector ${collector} went silent: start it again on its machine, or take it out with \`grange collector set ${collector} --inactive\`.`;
    case "collector-out-of-duty":
      return `Collector ${collector} gets no work: ${alarm.why}. When that is mended: grange collector set ${collector} --in-duty`;
  }
}
