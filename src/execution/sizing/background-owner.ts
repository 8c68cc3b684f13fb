/** The owner of runs that only measure, and the start of their invocations' names: one for each size class. */
export const backgroundOwner = "background-learning";
