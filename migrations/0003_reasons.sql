ALTER TABLE `sync_run_resources` ADD `reasons` text;--> statement-breakpoint
ALTER TABLE `sync_run_resources` ADD `retry_after_until` text;