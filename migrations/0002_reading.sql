ALTER TABLE `sync_run_resources` ADD `ignored_fields` text;--> statement-breakpoint
ALTER TABLE `sync_run_resources` ADD `read_since` text;--> statement-breakpoint
DROP TABLE IF EXISTS `docmirror_upgrades`;
