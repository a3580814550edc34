DROP INDEX `document_exports_exported_at`;--> statement-breakpoint
ALTER TABLE `document_exports` ADD `exported_at_ms` integer;--> statement-breakpoint
CREATE INDEX `document_exports_exported_at_ms` ON `document_exports` (`exported_at_ms`,`_content`,`source_connection_id`,`destination_connection_id`,`source_document_kind`);--> statement-breakpoint
DROP TABLE `_pages`;