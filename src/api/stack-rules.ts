import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import { type Rule, type RuleCreate, type RuleUpdate, ruleSchema } from './contract/rule.ts'
import type { StackCalls, StackId } from './stack-calls.ts'
import { StackRecords } from './stack-records.ts'

/** Automation rules: `/api/tilerules/`. All methods throw as `StackClient` says. */
export class StackRules {
  readonly #records: StackRecords<typeof ruleSchema>

  constructor(calls: StackCalls) {
    this.#records = new StackRecords(calls, ruleSchema, {
      list: endpoints.listRules,
      get: endpoints.getRule,
      update: endpoints.updateRule,
      delete: endpoints.deleteRule,
    })
  }

  /** All rules of the Stack; they come without pages. */
  async list(options: RequestOptions = {}): Promise<Rule[]> {
    return this.#records.listWhole(options)
  }

  async get(id: StackId, options: RequestOptions = {}): Promise<Rule> {
    return this.#records.get(id, options)
  }

  async create(rule: RuleCreate, options: RequestOptions = {}): Promise<Rule> {
    return this.#records.create(endpoints.createRule, rule, options)
  }

  /** Fields that are left out stay as they are. */
  async update(id: StackId, changes: RuleUpdate, options: RequestOptions = {}): Promise<Rule> {
    return this.#records.update(id, changes, options)
  }

  async delete(id: StackId, options: RequestOptions = {}): Promise<void> {
    await this.#records.delete(id, options)
  }

  /**
   * Applies the rule to the tiles or assets that exist already. Neither body is described by the contract: nothing is
   * sent, and what comes is answered as it is (undefined for an empty body).
   */
  async apply(id: StackId, options: RequestOptions = {}): Promise<unknown> {
    return (await this.#records.calls.call(endpoints.applyRule, { ...options, id })).data
  }
}
