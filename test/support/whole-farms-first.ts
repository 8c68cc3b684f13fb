import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that start whole farms begin first, the many short ones of the rooms last.
 *
 * The other way round, the run ended with one file that takes minutes while all but one of the workers had nothing to do.
 */
export class WholeFarmsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWhole = ({ project }: TestSpecification) => project.name === "whole";
    return [...sorted.filter(isWhole), ...sorted.filter((file) => !isWhole(file))];
  }
}
