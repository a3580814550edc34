ALTER TABLE `rejected_records` ADD `identity` blob;--> statement-breakpoint
CREATE INDEX `rejected_records_identity` ON `rejected_records` (`identity`);--> statement-breakpoint
CREATE INDEX `rejected_records_content` ON `rejected_records` (`content`);