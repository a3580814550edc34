DROP TABLE `_list_edges`;
--> statement-breakpoint
DROP TABLE `_known_pages`;
--> statement-breakpoint
CREATE TABLE `_list_states` (
	`resource` text PRIMARY KEY NOT NULL,
	`run_id` integer NOT NULL,
	`state` text NOT NULL,
	`check` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `_known_pages` (
	`resource` text NOT NULL,
	`place` integer NOT NULL,
	`digest` blob NOT NULL,
	`item_count` integer NOT NULL,
	`sum` blob NOT NULL,
	`run_id` integer NOT NULL,
	`check` blob NOT NULL,
	PRIMARY KEY(`resource`, `place`)
) STRICT;
--> statement-breakpoint
DROP INDEX `document_exports_key`;--> statement-breakpoint
DROP INDEX `document_exports_exported_at`;--> statement-breakpoint
ALTER TABLE `document_exports` DROP COLUMN `_key`;--> statement-breakpoint
ALTER TABLE `document_exports` DROP COLUMN `_occurrence`;--> statement-breakpoint
-- What the column holds is computed anew where a mirror is upgraded.
ALTER TABLE `document_exports` RENAME COLUMN `_fingerprint` TO `_content`;--> statement-breakpoint
ALTER TABLE `collections` RENAME COLUMN `_fingerprint` TO `_content`;--> statement-breakpoint
ALTER TABLE `webhooks` RENAME COLUMN `_fingerprint` TO `_content`;--> statement-breakpoint
ALTER TABLE `connections` RENAME COLUMN `_fingerprint` TO `_content`;--> statement-breakpoint
CREATE INDEX `document_exports_exported_at` ON `document_exports` (`exported_at`,`_content`);--> statement-breakpoint
ALTER TABLE `rejected_records` ADD `last_run_id` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `rejected_records` SET `last_run_id` = `run_id`;--> statement-breakpoint
CREATE INDEX `rejected_records_last_run_id` ON `rejected_records` (`last_run_id`);--> statement-breakpoint
ALTER TABLE `sync_run_resources` ADD `checksum` text;
