// Hosts that are asked how much they have to do (ORCA out of band).
import type { envoy_extensions_load_balancing_policies_common_v3_OrcaOobReportingConfig as ReportingConfig } from '../../../build/messages.gen.js';
import { wantedOf } from '../host-labels.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { LoadQuestions } from '../plan.gen.js';

const REPORTING = supportedFields<ReportingConfig>(
  'envoy.extensions.load_balancing_policies.common.v3.OrcaOobReportingConfig',
  ['port_value', 'authority', 'transport_socket_match_criteria'],
);
const DEFAULT_PERIOD_MS = 10_000;

/** What balancers that go by load say of it. */
interface Questions {
  readonly enable_oob_load_report?: boolean;
  readonly oob_reporting_period?: number;
  readonly oob_reporting_config?: ReportingConfig;
}

/** Undefined: hosts are not asked; how they would be does not count then. */
export function compileLoadQuestions(
  {
    enable_oob_load_report: isOn,
    oob_reporting_period: period,
    oob_reporting_config: how,
  }: Questions,
  place: Place,
): LoadQuestions | undefined {
  if (how) refuseOtherFields(place.field('oob_reporting_config'), how, REPORTING);
  if (!isOn) return undefined;
  const ms = wholeMs(period, 0);
  return {
    period_ms: ms > 0 ? ms : DEFAULT_PERIOD_MS,
    port: how?.port_value,
    authority: how?.authority,
    goes_by_labels: how?.transport_socket_match_criteria !== undefined,
    socket_labels: wantedOf(how?.transport_socket_match_criteria ?? {}),
  };
}
