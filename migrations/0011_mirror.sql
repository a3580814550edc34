PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_rejected_records` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` integer NOT NULL,
	`last_run_id` integer NOT NULL,
	`resource` text NOT NULL,
	`page_no` integer NOT NULL,
	`position` integer NOT NULL,
	`reason` text NOT NULL,
	`record` text,
	`content` blob NOT NULL,
	`identity` blob,
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_rejected_records`("id", "run_id", "last_run_id", "resource", "page_no", "position", "reason", "record", "content", "identity") SELECT "id", "run_id", "last_run_id", "resource", "page_no", "position", "reason", "record", "content", "identity" FROM `rejected_records`;--> statement-breakpoint
DROP TABLE `rejected_records`;--> statement-breakpoint
ALTER TABLE `__new_rejected_records` RENAME TO `rejected_records`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `rejected_records_run_id` ON `rejected_records` (`run_id`);--> statement-breakpoint
CREATE INDEX `rejected_records_last_run_id` ON `rejected_records` (`last_run_id`);--> statement-breakpoint
CREATE INDEX `rejected_records_identity` ON `rejected_records` (`identity`);--> statement-breakpoint
CREATE INDEX `rejected_records_content` ON `rejected_records` (`content`);