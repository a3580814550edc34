ALTER TABLE `record_history` ADD `exported_at_ms` integer;--> statement-breakpoint
ALTER TABLE `record_history` ADD `source_document_reference` text;--> statement-breakpoint
ALTER TABLE `record_history` ADD `returned_run_id` integer;--> statement-breakpoint
CREATE INDEX `record_history_gone` ON `record_history` (`resource`,`exported_at_ms`) WHERE ended_by = 'removal' AND returned_run_id IS NULL;--> statement-breakpoint
CREATE INDEX `record_history_gone_reference` ON `record_history` (`source_document_reference`) WHERE ended_by = 'removal' AND returned_run_id IS NULL;