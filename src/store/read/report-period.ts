/** A stretch of a period, in milliseconds since 1970: one bar of a chart. Both ends are whole seconds. */
export interface Stretch {
  readonly fromMs: number;
  /** Not part of it. */
  readonly toMs: number;
  /** False if an end of the period cuts it: for example a month with only ten days in the period. */
  readonly isWhole: boolean;
}

/** A part of time, in milliseconds since 1970; `toMs` is not part of it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The times of a report: a period and the one before it, each in stretches without gaps, the oldest first. */
export interface ReportPeriod {
  /** The name of the time zone in which days and months begin. */
  readonly timezone: string;
  readonly unit: 'hour' | 'day' | 'month' | 'year';
  readonly span: Span;
  readonly spanBefore: Span;
  /** At least one. */
  readonly stretches: readonly Stretch[];
  /** The stretches of the period before: as many, or one more or less. */
  readonly stretchesBefore: readonly Stretch[];
  /** When the report is made, in milliseconds since 1970. */
  readonly nowMs: number;
}
