-- A case and an occurrence that came from no session have an empty session_id. Until now they had none. Documents are JSON text
-- that the service wrote, so members stand in a fixed order and a quote inside of a string is escaped: the patterns match members
-- alone. Stored replies in idempotency_keys stay as they are, because a replay has the bytes of the first answer.
update cases as c
set document = m.document
from (
  select tenant_id, case_id,
    regexp_replace(
      regexp_replace(
        document,
        '^(\{"case_id":"[^"]*","tenant_id":"[^"]*","website_account_id":"(?:[^"\\]|\\.)*",)(?!"session_id":)',
        '\1"session_id":"",'
      ),
      '("occurrence_id":"(?:[^"\\]|\\.)*","prediction_id":"[^"]*",)(?!"session_id":)',
      '\1"session_id":"",',
      'g'
    ) as document
  from cases
) as m
where c.tenant_id = m.tenant_id and c.case_id = m.case_id and c.document <> m.document;
