ALTER TABLE `connections` ADD `_extra_rank` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `connections` SET `_extra_rank` = `_name_rank` WHERE `_extra` IS NOT NULL;