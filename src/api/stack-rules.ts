import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import { type Rule, type RuleCreate, type RuleUpdate, ruleSchema } from './contract/rule.ts'
import type { StackCalls, StackId } from './stack-calls.ts'
import { StackRecords } from './stack-records.ts'

/** Automation rules: `/api/tilerules/`. All methods throw as `StackClient` says. */
export class StackRules extends StackRecords<Rule, RuleUpdate> {
  constructor(calls: StackCalls) {
    super(calls, ruleSchema, 'Rule')
  }

  /** All rules of the Stack; they come without pages. */
  async list(options: RequestOptions = {}): Promise<Rule[]> {
    return this.readWhole(options)
  }

  async create(rule: RuleCreate, options: RequestOptions = {}): Promise<Rule> {
    return this.add(endpoints.createRule, rule, options)
  }

  /**
   * Applies the rule to the tiles or assets that exist already. Neither body is described by the contract: nothing is
   * sent, and what comes is answered as it is (undefined for an empty body).
   */
  async apply(id: StackId, options: RequestOptions = {}): Promise<unknown> {
    return (await this.calls.call(endpoints.applyRule, { ...options, id })).data
  }
}
