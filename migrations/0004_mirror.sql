ALTER TABLE `record_history` ADD `exported_at_ms` integer;--> statement-breakpoint
ALTER TABLE `record_history` ADD `returned_run_id` integer;--> statement-breakpoint
CREATE INDEX `record_history_gone` ON `record_history` (`resource`,`exported_at_ms`) WHERE ended_by = 'removal' AND returned_run_id IS NULL;--> statement-breakpoint
CREATE INDEX `record_history_gone_reference` ON `record_history` (CAST(CASE WHEN json_valid(record) THEN json_extract(record, '$.sourceDocumentReference') END AS TEXT)) WHERE ended_by = 'removal' AND returned_run_id IS NULL;