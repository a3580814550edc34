CREATE TABLE `_known_pages` (
	`resource` text NOT NULL,
	`page_no` integer NOT NULL,
	`digest` blob NOT NULL,
	`item_count` integer NOT NULL,
	`sum` blob NOT NULL,
	`row_ids` blob NOT NULL,
	PRIMARY KEY(`resource`, `page_no`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `_list_edges` (
	`resource` text PRIMARY KEY NOT NULL,
	`run_id` integer NOT NULL,
	`edges` text NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
