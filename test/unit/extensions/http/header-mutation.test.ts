import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.header_mutation.v3.HeaderMutation';
const filter = (mutations: object, fields: object = {}) => ({
  name: 'm',
  typed_config: any(TYPE, { mutations, ...fields }),
});
const append = (key: string, value: string) => ({ append: { header: { key, value } } });

test('the lists of header_mutation are kept in their order', () => {
  const { issues, filters } = compiled([
    filter({
      request_mutations: [{ remove: 'X-Gone' }, append('x-a', '%REQ(b)%')],
      response_trailers_mutations: [append('x-t', '1')],
      query_parameter_mutations: [
        { remove: 'q' },
        { append: { record: { key: 'k', value: 'v' }, action: 'ADD_IF_ABSENT' } },
      ],
    }),
  ]);
  assert.deepEqual(issues, []);
  const plan = filters?.[0]?.header_mutation?.mutations;
  assert.deepEqual(plan?.request?.[0], { remove: 'x-gone' });
  assert.equal(plan?.request?.[1]?.add?.name, 'x-a');
  assert.equal(plan?.response_trailers?.length, 1);
  assert.deepEqual(
    plan?.query?.map(({ name }) => name),
    ['q', 'k'],
  );
});

test('hosts and pseudo headers are not to be changed, and parameters are texts', () => {
  const header = compiled([filter({ request_mutations: [append(':path', '/')] })]);
  assert.match(header.issues.join(), /:-prefixed or host headers may not be modified/);
  const query = [{ append: { record: { key: 'k', value: 5 } } }];
  const number = compiled([filter({ query_parameter_mutations: query })]);
  assert.match(number.issues.join(), /Only string value is allowed for record value/);
  const none = compiled([filter({ query_parameter_mutations: [{ append: {} }] })]);
  assert.match(none.issues.join(), /No record is provided/);
});

test('formats may leave out the query, where a formatter is named', () => {
  const request_mutations = [append('x-a', '%REQ_WITHOUT_QUERY(:PATH)%')];
  const type = 'envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery';
  const formatters = [{ name: 'f', typed_config: any(type) }];
  assert.deepEqual(compiled([filter({ request_mutations, formatters })]).issues, []);
  assert.notDeepEqual(compiled([filter({ request_mutations })]).issues, []);
});
