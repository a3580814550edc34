CREATE TABLE `_mirror` (
	`mirror_id` text PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `sync_receipts` (
	`leaf_index` integer PRIMARY KEY NOT NULL,
	`run_id` integer,
	`receipt` text NOT NULL,
	`leaf_hash` text NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sync_receipts_run_id` ON `sync_receipts` (`run_id`);--> statement-breakpoint
ALTER TABLE `connections` ADD `_fingerprint` blob;--> statement-breakpoint
ALTER TABLE `rejected_records` ADD `_fingerprint` blob;--> statement-breakpoint
ALTER TABLE `sync_run_resources` ADD `_fingerprint` blob;--> statement-breakpoint
ALTER TABLE `sync_runs` ADD `_actor` text;--> statement-breakpoint
ALTER TABLE `sync_runs` ADD `_fingerprint` blob;