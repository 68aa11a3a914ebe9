// Generated from the OpenAPI description by scripts/typescript_client.py: do not edit.
export type Access = { "node": string; "access": Array<string> | null };

export type ActivityIn = { "node": string; "kind": "view" | "edit"; "at"?: string | null };

export type AddedOut = { "nodes": number; "edges": number; "embedded": number; "ids": Array<string> };

export type AddedPiece = { "name": string; "citation": string; "text": string };

export type Addition = { "nodes"?: Array<NodeIn>; "edges"?: Array<EdgeIn>; "in_place"?: boolean; "keep_access"?: boolean };

export type AdditionOut = { "changes": Array<Change>; "read": number; "known": number };

export type AnswerCheckOut = { "sound": boolean; "used": Array<Citation>; "unknown": Array<string>; "uncited": Array<Quote> };

export type AnswerIn = { "query"?: string; "budget"?: number | BudgetIn | null; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "template"?: string | null; "focus"?: string | null; "page"?: string | null; "thread"?: string | null; "history"?: Array<MessageIn>; "filters"?: FiltersIn; "include"?: Array<string>; "prefer_types"?: Array<string>; "boosts"?: Record<string, number>; "edge_types"?: Array<string>; "edge_order"?: Array<string>; "depth"?: number | null; "topics"?: Array<TopicIn>; "show_fields"?: boolean; "key_fields"?: Array<string>; "truncation"?: "extractive" | "keep_start" | "keep_end" | "summarize" | "summarise"; "vector"?: Array<number> | null; "decay"?: Record<string, number>; "trust"?: "own" | "workspace" | "imported" | "external" | null; "show"?: Array<"type" | "tags" | "score" | "route" | "origin">; "given"?: Array<string>; "min_support"?: number | null; "remember"?: boolean; "answer": string };

export type Answered = { "at": string; "cited": Array<string>; "unknown": Array<string>; "uncited_quotes": number };

export type AskIn = { "query": string; "num_results"?: number; "max_tokens"?: number; "mode"?: "everything" | "text" | "visual" | "hybrid"; "min_support"?: number | null; "extractive"?: boolean };

export type AuditEntryOut = { "id": number; "at": string; "action": string; "workspace": string; "user": string; "key": string; "address": string; "request": string; "details": Record<string, string | boolean | number | Array<string> | null> };

export type AuditList = { "entries": Array<AuditEntryOut> };

export type BudgetIn = { "total": number; "sections"?: Record<string, number>; "share"?: boolean; "capped"?: Array<string> };

export type BuildIn = { "query"?: string; "budget"?: number | BudgetIn | null; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "template"?: string | null; "focus"?: string | null; "page"?: string | null; "thread"?: string | null; "history"?: Array<MessageIn>; "filters"?: FiltersIn; "include"?: Array<string>; "prefer_types"?: Array<string>; "boosts"?: Record<string, number>; "edge_types"?: Array<string>; "edge_order"?: Array<string>; "depth"?: number | null; "topics"?: Array<TopicIn>; "show_fields"?: boolean; "key_fields"?: Array<string>; "truncation"?: "extractive" | "keep_start" | "keep_end" | "summarize" | "summarise"; "vector"?: Array<number> | null; "decay"?: Record<string, number>; "trust"?: "own" | "workspace" | "imported" | "external" | null; "show"?: Array<"type" | "tags" | "score" | "route" | "origin">; "given"?: Array<string>; "min_support"?: number | null; "remember"?: boolean; "form"?: "lean" | "document" | "whole" };

export type Candidate = { "node": NodeInfo; "passage": Passage; "section": string; "findings": Array<Finding>; "trail"?: Array<string>; "distance"?: number | null; "path"?: Array<Step>; "signals"?: Record<string, number | null>; "score"?: number; "reached"?: Array<Reach>; "hubs"?: Array<string>; "more"?: boolean; "note"?: string; "document"?: string; "depth"?: number; "asked"?: boolean; "levels"?: number | null };

export type Change = { "action": "add" | "update" | "supersede" | "ignore"; "text": string; "reason": string; "turns": Array<string>; "memory"?: Memory | null };

export type Changed = { "changed": number };

export type ChangedPiece = { "name": string; "citation": string; "text": string; "was": string };

export type Citation = { "id": string; "node": string; "type": string; "title": string; "source": string; "start": number; "end": number; "score": number };

export type CitationCheck = { "cited": Array<number>; "unknown": Array<number>; "uncited": Array<Uncited> };

export type CompactIn = { "thread": string; "keep"?: number };

export type Compacted = { "text": string; "history": Array<Record<string, string>>; "tokens": number; "budget": number; "messages": number; "dropped": number; "citations"?: Array<string> };

export type Conflict = { "memory": Memory; "kind": "duplicate" | "contradiction"; "reason": string };

export type Context = { "id": string; "query": string; "workspace": string; "user": string; "text": string; "tokens": number; "budget": number; "sections": Array<Section>; "overflow": Array<Excerpt>; "citations": Array<Citation>; "trace": Array<Decision>; "warnings"?: Array<string>; "ended"?: "budget" | "evidence" | "workspace"; "pieces"?: Array<Piece>; "support"?: number | null; "timings"?: Record<string, number> };

export type ContextFeedback = { "contextItemId": string; "useful": boolean };

export type ContextHintsIn = { "prioritizeTypes"?: Array<string>; "timeRange"?: TimeRangeIn | null; "includeBlocks"?: Array<string>; "excludeBlocks"?: Array<string>; "maxDepth"?: number | null };

export type ContextIn = { "query"?: string; "budget"?: number | BudgetIn | null; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "template"?: string | null; "focus"?: string | null; "page"?: string | null; "thread"?: string | null; "history"?: Array<MessageIn>; "filters"?: FiltersIn; "include"?: Array<string>; "prefer_types"?: Array<string>; "boosts"?: Record<string, number>; "edge_types"?: Array<string>; "edge_order"?: Array<string>; "depth"?: number | null; "topics"?: Array<TopicIn>; "show_fields"?: boolean; "key_fields"?: Array<string>; "truncation"?: "extractive" | "keep_start" | "keep_end" | "summarize" | "summarise"; "vector"?: Array<number> | null; "decay"?: Record<string, number>; "trust"?: "own" | "workspace" | "imported" | "external" | null; "show"?: Array<"type" | "tags" | "score" | "route" | "origin">; "given"?: Array<string>; "min_support"?: number | null; "remember"?: boolean };

export type ContextItemModel = { "blockId": string; "blockType": string; "content": string; "relevance": number; "metadata"?: ItemMetadataModel; "blockIds"?: Array<string> };

export type ContextOut = { "id": string; "query": string; "workspace": string; "user": string; "text": string; "tokens": number; "budget": number; "ended": string; "stable_prefix_tokens": number; "sections": Array<SectionOut>; "overflow": Array<ExcerptOut>; "citations": Array<Citation>; "warnings": Array<string>; "decisions": Array<Decision>; "timings": Record<string, number> };

export type ContextPayloadModel = { "sections": Array<ContextSectionModel>; "metadata": PayloadMetadataModel; "serialized": string };

export type ContextRequestIn = { "query": string; "focus"?: FocusIn | null; "type"?: "assist" | "chat" | "search" | "automate"; "user"?: ContractUser | null; "conversationHistory"?: Array<ConversationMessageIn>; "tokenBudget"?: TokenBudgetIn | null; "hints"?: ContextHintsIn | null };

export type ContextSectionModel = { "type": string; "title": string; "items"?: Array<ContextItemModel>; "tokenCount"?: number };

export type ContextValidationResultOut = { "valid": boolean; "violations": Array<Violation> };

export type ContractUser = { "id": string };

export type ConversationIn = { "type"?: string | null; "confidence"?: number | null; "tags"?: Array<string> | null; "metadata"?: Record<string, string | boolean | number> | null; "pinned"?: boolean | null; "conversation"?: string | null; "created_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "access"?: Array<string> | null; "messages": Array<ConversationTurn>; "on_conflict"?: "keep_both" | "link" | "supersede" | null; "extract"?: boolean; "dry_run"?: boolean };

export type ConversationMessageIn = { "role": string; "content": string; "timestamp"?: string | null };

export type ConversationTurn = { "id"?: string | null; "role"?: string; "text": string; "at"?: string | null };

export type Counts = { "name": string; "user": string; "scope": "read" | "write" | "admin"; "counts": Record<string, number> };

export type Data = { "totalTokens": number; "items": Array<PrimeItem>; "citations": Array<PrimeCitation>; "stats": Stats; "text": string };

export type Decision = { "citation": string; "node": string; "type": string; "title": string; "section": string; "findings": Array<Finding>; "signals": Record<string, number | null>; "score": number; "tokens": number; "fate": "included" | "truncated" | "line" | "dropped"; "reason": string; "missing_tokens"?: number | null; "start"?: string; "path"?: Array<Step>; "marks"?: Array<string> };

export type Delta = { "since": string; "context": Context; "added": Array<Piece>; "changed": Array<Piece>; "replaced": Record<string, string>; "withdrawn": Array<Withdrawn>; "frame": Array<Piece>; "order": Array<string>; "text": string; "tokens": number; "whole": boolean };

export type DeltaIn = { "query"?: string; "budget"?: number | BudgetIn | null; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "template"?: string | null; "focus"?: string | null; "page"?: string | null; "thread"?: string | null; "history"?: Array<MessageIn>; "filters"?: FiltersIn; "include"?: Array<string>; "prefer_types"?: Array<string>; "boosts"?: Record<string, number>; "edge_types"?: Array<string>; "edge_order"?: Array<string>; "depth"?: number | null; "topics"?: Array<TopicIn>; "show_fields"?: boolean; "key_fields"?: Array<string>; "truncation"?: "extractive" | "keep_start" | "keep_end" | "summarize" | "summarise"; "vector"?: Array<number> | null; "decay"?: Record<string, number>; "trust"?: "own" | "workspace" | "imported" | "external" | null; "show"?: Array<"type" | "tags" | "score" | "route" | "origin">; "given"?: Array<string>; "min_support"?: number | null; "remember"?: boolean; "form"?: "lean" | "document" | "whole"; "since": string };

export type DeltaOut = { "since": string; "id": string; "added": Array<AddedPiece>; "changed": Array<ChangedPiece>; "withdrawn": Array<WithdrawnPiece>; "frame": Record<string, string>; "order": Array<string>; "text": string; "tokens": number; "whole": boolean };

export type DocumentList = { "documents": Array<NodeOut>; "total": number };

export type DocumentText = { "node": NodeInfo; "document": NodeInfo; "trail": Array<string>; "text": string; "tokens": number; "citations": Array<Citation>; "before"?: number; "left"?: number; "next"?: string; "holds"?: Array<NodeInfo> };

export type Done = { "success"?: true };

export type Edge = { "source": string; "target": string; "type"?: string; "label"?: string; "weight"?: number };

export type EdgeIn = { "source": string; "target": string; "type"?: string; "label"?: string; "weight"?: number };

export type Edges = { "edges": Array<EdgeIn> };

export type EraseIn = { "ids"?: Array<string>; "everything"?: boolean; "of"?: string | null };

export type EstimateIn = { "payload": ContextPayloadModel };

export type EstimateOut = { "tokens": number };

export type EventList = { "events": Array<EventOut> };

export type EventOut = { "node": string; "kind": "view" | "edit"; "at": string };

export type Excerpt = { "document": NodeInfo; "section": string; "form": "line" | "hits" | "window" | "section" | "whole"; "items": Array<Item>; "text": string; "tokens": number; "score": number; "content"?: string; "truncated"?: boolean; "note"?: string; "trail"?: Array<string> };

export type ExcerptOut = { "document": string; "type": string; "title": string; "path": Array<string>; "source": string; "citation": string; "form": "line" | "hits" | "window" | "section" | "whole"; "truncated": boolean; "note": string; "score": number; "tokens": number; "content": string; "items": Array<ItemOut> };

export type Explanation = { "text": string };

export type FeedbackIn = { "reference": string; "useful": boolean; "query"?: string | null };

export type FiltersIn = { "types"?: Array<string>; "tags"?: Array<string>; "after"?: string | null; "before"?: string | null; "min_confidence"?: number | null; "conversation"?: string | null; "as_of"?: string | null; "exclude"?: Array<string>; "exclude_types"?: Array<string> };

export type Finding = { "collector": string; "rank": number; "score": number; "why"?: string; "kind"?: "words" | "fuzzy" | "keywords" | "vector" | "look" | "reference" | "focus" | "due" | "history" | "link" | "link_rank" | "contradiction" | "adjacent" | "similar" | "activity" | "other" };

export type FocusIn = { "blockId"?: string | null; "pageId"?: string | null; "databaseId"?: string | null };

export type ForgetIn = { "ids"?: Array<string>; "filters"?: FiltersIn | null; "metadata"?: Record<string, string | boolean | number> | null; "versions"?: boolean };

export type Health = { "status": "ok" | "ready" };

export type InspectIn = { "query"?: string; "budget"?: number | null; "sections"?: Record<string, number>; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "focus"?: string | null; "thread"?: string | null };

export type InspectedCandidate = { "node": string; "citation": string; "type": string; "title": string; "path": Array<string>; "section": string; "section_title": string; "tags": Array<string>; "text": string; "text_goes_on": boolean; "score": number; "tokens": number; "fate": "included" | "truncated" | "line" | "dropped"; "reason": string; "why": string; "missing_tokens": number | null; "signals": Record<string, number | null>; "shares": Record<string, number>; "findings": Array<Finding>; "page": number | null; "has_picture": boolean };

export type InspectedCard = { "document": string; "type": string; "title": string; "path": Array<string>; "citation": string; "content": string; "section": string; "section_title": string; "candidate": number; "candidates": Array<number>; "score": number; "form": "line" | "hits" | "window" | "section" | "whole"; "truncated": boolean; "note": string; "tokens": number };

export type InspectedLens = { "name": string; "description": string };

export type InspectedPiece = { "text": string; "card": InspectedCard | null };

export type InspectedRecipe = { "name": string; "packer": string; "sections": Record<string, number>; "tokens": number };

export type InspectedSection = { "name": string; "title": string; "tokens": number; "budget": number | null };

export type InspectedWorkspace = { "name": string; "users": Array<string> };

export type Inspection = { "id": string; "user": string; "workspace": string; "query": string; "tokens": number; "budget": number; "support": number | null; "ended": "budget" | "evidence" | "workspace"; "lines_tokens": number; "frame_tokens": number; "matches": Array<string>; "sections": Array<InspectedSection>; "pieces": Array<InspectedPiece>; "candidates": Array<InspectedCandidate>; "warnings": Array<string>; "timings": Record<string, number> };

export type Item = { "candidate": Candidate; "text": string; "truncated"?: boolean; "hit"?: boolean };

export type ItemMetadataModel = { "pageTitle"?: string | null; "path"?: Array<string>; "lastModified"?: string | null };

export type ItemOut = { "node": string; "type": string; "title": string; "path": Array<string>; "tags": Array<string>; "fields": Record<string, string | boolean | number | Array<string> | null>; "source": string; "origin": "written" | "chat" | "connector" | "upload" | "tool" | "web"; "writer": string | null; "trust": "own" | "workspace" | "imported" | "external"; "confidence": number | null; "valid_from": string | null; "valid_until": string | null; "created_at": string | null; "updated_at": string | null; "distance": number | null; "citation": string; "score": number; "hit": boolean; "truncated": boolean; "tokens": number; "content": string };

export type JobList = { "jobs": Array<JobOut> };

export type JobOut = { "id": string; "state": "queued" | "running" | "done" | "failed" | "cancelled"; "created_at": string; "updated_at": string; "name": string; "node": string; "bytes": number; "done": number; "expected": number | null; "read"?: number | null; "changed"?: number | null; "notes"?: Array<string>; "why"?: string | null };

export type KeyIn = { "user": string; "scope"?: "record" | "read" | "write" | "admin"; "name"?: string; "lasts"?: string | null };

export type KeyList = { "keys": Array<KeyOut> };

export type KeyOut = { "id": string; "name": string; "user": string; "scope": "record" | "read" | "write" | "admin"; "state": "active" | "expired" | "revoked"; "created_at": string; "expires_at": string | null; "last_used_at": string | null };

export type LeanCitation = { "id": string; "node": string; "start": number; "end": number };

export type LeanContext = { "id": string; "query": string; "text": string; "tokens": number; "budget": number; "ended": "budget" | "evidence" | "workspace"; "support": number | null; "truncated": boolean; "sections": Array<LeanSection>; "overflow": Array<LeanExcerpt>; "citations": Array<LeanCitation>; "warnings": Array<string> };

export type LeanDelta = { "since": string; "id": string; "text": string; "tokens": number; "whole": boolean; "added": Array<LeanExcerpt>; "changed": Array<LeanExcerpt>; "replaced": Record<string, string>; "withdrawn": Record<string, string>; "citations": Array<LeanCitation>; "warnings": Array<string> };

export type LeanExcerpt = { "document": string; "type": string; "title": string; "source": string; "form": "line" | "hits" | "window" | "section" | "whole"; "score": number; "citations": Array<string> };

export type LeanSection = { "name": string; "tokens": number; "excerpts": Array<LeanExcerpt> };

export type LeftOut = { "citation": string; "node": string; "why": string; "score": number; "title"?: string };

export type LensList = { "lenses": Array<LensOut> };

export type LensOut = { "name": string; "description": string; "priority_types": Array<string>; "boost_tags": Array<string>; "include_fields": Array<string>; "max_depth": number };

export type Memory = { "id": string; "content": string; "type"?: string; "confidence"?: number | null; "tags"?: Array<string>; "conversation_id"?: string | null; "created_at"?: string | null; "updated_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "owner"?: string | null; "access"?: Array<string> | null; "metadata"?: Record<string, string | number | boolean | Array<string> | null>; "pinned"?: boolean; "action"?: "added" | "superseded" | "known" | "asked" | null; "conflicts"?: Array<Conflict> };

export type MemoryChange = { "type"?: string | null; "confidence"?: number | null; "tags"?: Array<string> | null; "metadata"?: Record<string, string | boolean | number> | null; "pinned"?: boolean | null; "conversation"?: string | null; "created_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "access"?: Array<string> | null; "text"?: string | null; "contradicts"?: Array<string> };

export type MemoryContext = { "context": string; "token_count": number; "memories": Array<MemoryResult>; "truncated": boolean; "template": string; "warnings": Array<string> };

export type MemoryContextQuery = { "query"?: string | null; "vector"?: Array<number> | null; "limit"?: number | null; "memory_types"?: Array<string>; "tags"?: Array<string>; "metadata"?: Record<string, string | boolean | number>; "date_from"?: string | null; "date_to"?: string | null; "min_confidence"?: number | null; "min_score"?: number | null; "conversation_id"?: string | null; "include_relationships"?: boolean; "relationship_depth"?: number; "as_of"?: string | null; "contradictions"?: "both" | "newer" | null; "template"?: string | TemplateIn | null; "token_budget"?: number | null; "ranker"?: string; "ranking"?: Weights | null; "include_metadata"?: boolean | null; "pinned_tokens"?: number; "min_support"?: number | null };

export type MemoryIn = { "type"?: string | null; "confidence"?: number | null; "tags"?: Array<string> | null; "metadata"?: Record<string, string | boolean | number> | null; "pinned"?: boolean | null; "conversation"?: string | null; "created_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "access"?: Array<string> | null; "text": string; "contradicts"?: Array<string>; "on_conflict"?: "keep_both" | "link" | "supersede" | "ask" };

export type MemoryList = { "memories": Array<MemoryOut> };

export type MemoryOut = { "id": string; "content": string; "type": string; "confidence": number | null; "tags": Array<string>; "metadata": Record<string, string | boolean | number | Array<string> | null>; "pinned": boolean; "conversation_id": string | null; "created_at": string | null; "updated_at": string | null; "valid_from": string | null; "valid_until": string | null; "owner": string | null; "access": Array<string> | null; "action": "added" | "superseded" | "known" | "asked" | null; "conflicts": Array<Conflict> };

export type MemoryQuery = { "query"?: string | null; "vector"?: Array<number> | null; "limit"?: number | null; "memory_types"?: Array<string>; "tags"?: Array<string>; "metadata"?: Record<string, string | boolean | number>; "date_from"?: string | null; "date_to"?: string | null; "min_confidence"?: number | null; "min_score"?: number | null; "conversation_id"?: string | null; "include_relationships"?: boolean; "relationship_depth"?: number; "as_of"?: string | null; "contradictions"?: "both" | "newer" | null };

export type MemoryResult = { "memory": MemoryOut; "score": number; "rank": number | null; "relationships": Array<RelatedMemory> | null };

export type MemoryResults = { "results": Array<MemoryResult> };

export type MessageIn = { "role": string; "text": string; "at"?: string | null };

export type MessageList = { "messages": Array<NodeOut> };

export type MessagesIn = { "thread": string; "messages": Array<ThreadTurn> };

export type Meta = { "tokenUsage": number; "sourceCount": number; "citationCount": number };

export type Metadata = { "node": string; "nodeType": string; "path": string | null; "createdAt": string | null; "matchedKeywords": Array<string>; "searchRank": number | null };

export type Move = { "node": string; "parent"?: string | null; "position"?: number };

export type NamedList = { "names": Array<string> };

export type NearIn = { "query"?: string; "budget"?: number | null; "sections"?: Record<string, number>; "recipe"?: string; "lens"?: string | null; "packer"?: string | null; "focus"?: string | null; "thread"?: string | null; "citations"?: Array<string> };

export type NearMiss = { "node": string; "citation": string; "more": number | null };

export type NearMissList = { "near": Array<NearMiss> };

export type Neighbour = { "edge": Edge; "node": NodeOut };

export type Neighbours = { "neighbours": Array<Neighbour> };

export type NewKey = { "id": string; "name": string; "user": string; "scope": "record" | "read" | "write" | "admin"; "state": "active" | "expired" | "revoked"; "created_at": string; "expires_at": string | null; "last_used_at": string | null; "token": string };

export type NodeIn = { "id"?: string | null; "type"?: string; "title"?: string; "text"?: string; "parent"?: string | null; "position"?: number; "tags"?: Array<string>; "fields"?: Record<string, string | boolean | number | Array<string> | null>; "confidence"?: number | null; "conversation"?: string | null; "created_at"?: string | null; "updated_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "source"?: string; "origin"?: "written" | "chat" | "connector" | "upload" | "tool" | "web"; "owner"?: string | null; "access"?: Array<string> | null };

export type NodeInfo = { "id": string; "type"?: string; "title"?: string; "parent"?: string | null; "position"?: number; "tags"?: Array<string>; "fields"?: Record<string, string | number | boolean | Array<string> | null>; "confidence"?: number | null; "conversation"?: string | null; "created_at"?: string | null; "updated_at"?: string | null; "valid_from"?: string | null; "valid_until"?: string | null; "source"?: string; "origin"?: "written" | "chat" | "connector" | "upload" | "tool" | "web"; "writer"?: string | null; "owner"?: string | null; "access"?: Array<string> | null };

export type NodeList = { "nodes": Array<NodeOut> };

export type NodeOut = { "id": string; "type": string; "title": string; "text"?: string | null; "parent": string | null; "position": number; "tags": Array<string>; "fields": Record<string, string | boolean | number | Array<string> | null>; "confidence": number | null; "conversation": string | null; "created_at": string | null; "updated_at": string | null; "valid_from": string | null; "valid_until": string | null; "source": string; "origin": "written" | "chat" | "connector" | "upload" | "tool" | "web"; "writer": string | null; "owner": string | null; "access": Array<string> | null };

export type Overview = { "notes": number; "documents": number; "memories": number; "passages": number; "changed_at": string | null; "questions": Array<string> };

export type Passage = { "ordinal": number; "start": number; "end": number; "text": string; "tokens": number; "digest": string; "citation": string; "key"?: number };

export type PayloadMetadataModel = { "totalTokens": number; "timestamp": string; "focusBlockId"?: string | null; "focusPageId"?: string | null; "focusDatabaseId"?: string | null; "collectorsUsed"?: Array<string>; "blocksIncluded"?: number; "blocksConsidered"?: number };

export type Piece = { "name": string; "text": string; "citation"?: string };

export type Place = { "id": string; "type": string; "title": string; "trail": Array<string> };

export type Places = { "nodes": Array<Place> };

export type Preview = { "tokens": number; "budget_used": number; "truncated": boolean; "nodes": Array<string>; "scores": Record<string, number> };

export type PrimeCitation = { "id": string; "source": string; "type": "file" | "document" | "message"; "path": string | null; "excerpt": string; "relevance": number; "usedInResponse": boolean };

export type PrimeContextOut = { "data": Data; "meta": Meta };

export type PrimeContextRequest = { "threadId": string; "message": string };

export type PrimeItem = { "id": string; "type": "file" | "chunk" | "message" | "reference"; "content": string; "excerpt": string; "source": string; "relevance": number; "tokens": number; "metadata": Metadata };

export type Problem = { "type": string; "title": string; "status": number; "detail": string; "errors"?: Array<{ "in": string; "pointer": string; "detail": string }> };

export type Quote = { "sentence": string; "citation": Citation; "span": [number, number] };

export type Reach = { "topic": string; "start": string; "distance": number; "weight"?: number };

export type Receipt = { "id": string; "kind": string; "at": string; "user": string; "workspace": string; "surface": string; "query": string; "recipe": string; "budget": number; "tokens": number; "hash": string; "version": number; "software": string; "tokenizer": string; "embedder": string; "options"?: Record<string, string>; "thread"?: string; "message"?: string; "inject"?: boolean; "reason"?: string; "support"?: number | null; "cached_tokens"?: number; "used"?: Array<Used>; "earlier"?: Array<string>; "withdrawn"?: Array<string>; "left_out"?: Array<LeftOut>; "considered"?: number; "warnings"?: Array<string>; "answer"?: Answered | null };

export type ReceiptList = { "receipts": Array<Receipt> };

export type RecipeList = { "recipes": Array<RecipeOut> };

export type RecipeOut = { "name": string; "packer": string; "template": string; "collectors": Array<string>; "sections": Record<string, number>; "share": boolean };

export type ReferencesIn = { "thread": string; "nodes": Array<string> };

export type RelatedMemory = { "memory": Memory; "relationship": Edge; "depth": number };

export type Removal = { "ids": Array<string> };

export type Removed = { "removed": number };

export type Replay = { "receipt": string; "same": boolean; "version": number; "unchanged": Array<string>; "changed": Array<string>; "gone": Array<string>; "unchosen": Array<string>; "added": Array<string>; "text": string };

export type ReplyIn = { "thread": string; "text": string };

export type ReplyOut = { "message": string; "check": AnswerCheckOut; "used": number; "receipt": string };

export type ResearchOut = { "answer": string; "sources": Array<SourceDocument>; "truncated": boolean; "total_tokens": number; "model": string | null; "citations": CitationCheck; "note": string };

export type ResearchRequest = { "query": string };

export type Results = { "results": Array<SearchResult> };

export type SearchIn = { "query": string; "limit"?: number; "mode"?: "hybrid" | "words" | "vector"; "filters"?: FiltersIn };

export type SearchResult = { "node": NodeInfo; "passage": Passage; "score": number; "excerpt": string; "trail": Array<string> };

export type Section = { "name": string; "title": string; "excerpts": Array<Excerpt>; "tokens": number; "budget"?: number | null };

export type SectionOut = { "name": string; "title": string; "tokens": number; "budget": number | null; "excerpts": Array<ExcerptOut> };

export type SettingsOut = { "user": string; "scope": "read" | "write" | "admin"; "most_tokens": number; "workspaces": Array<InspectedWorkspace>; "home": string | null; "recipes": Array<InspectedRecipe>; "lenses": Array<InspectedLens>; "packers": Array<string>; "section_titles": Record<string, string>; "now": string };

export type SkippedOut = { "what": string; "why": string };

export type SourceDocument = { "doc_id": string; "filename": string; "page": number; "extension": string; "thumbnail_path"?: string | null; "image_path"?: string | null; "timestamp"?: string; "section_path"?: string | null; "parent_heading"?: string | null; "markdown_content"?: string; "relevance_score"?: number; "node_id"?: string | null };

export type SourceList = { "sources": Array<SourceOut> };

export type SourceOut = { "id": string; "name": string; "connector": string; "stored": number; "skipped": Array<SkippedOut>; "is_there": boolean };

export type SourceRead = { "added": number; "changed": number; "moved": number; "removed": number; "unchanged": number; "skipped": Array<SkippedOut> };

export type Stats = { "explicitCount": number; "searchCount": number; "historyCount": number; "excludedCount": number };

export type Step = { "edge": string; "direction": "out" | "in"; "node": string; "label"?: string; "weight"?: number };

export type TemplateIn = { "name"?: string; "item": string; "header"?: string; "section"?: string; "separator"?: string; "line"?: string; "overflow"?: string; "empty"?: string | null; "footer"?: string; "quote"?: "fence" | "cite" | "escape" | "plain"; "include_metadata"?: boolean; "fields_first"?: boolean; "reading_marks"?: boolean };

export type TextNode = { "id": string; "type": string; "title": string; "text": string; "parent": string | null; "position": number; "tags": Array<string>; "fields": Record<string, string | boolean | number | Array<string> | null>; "confidence": number | null; "conversation": string | null; "created_at": string | null; "updated_at": string | null; "valid_from": string | null; "valid_until": string | null; "source": string; "origin": "written" | "chat" | "connector" | "upload" | "tool" | "web"; "writer": string | null; "owner": string | null; "access": Array<string> | null };

export type ThreadIn = { "title"?: string; "references"?: Array<string>; "access"?: Array<string> | null };

export type ThreadList = { "threads": Array<NodeOut> };

export type ThreadTurn = { "role"?: string; "text": string; "at"?: string | null };

export type TimeRangeIn = { "start": string; "end": string };

export type TitleIn = { "title": string };

export type TokenBudgetIn = { "total"?: number | null; "focus"?: number | null; "semantic"?: number | null; "relations"?: number | null; "activity"?: number | null; "history"?: number | null; "system"?: number | null };

export type ToolIn = { "thread": string; "name": string; "output": string; "keep"?: boolean };

export type ToolResult = { "text": string; "tokens": number; "handle"?: string; "citation"?: string };

export type TopicIn = { "text": string; "weight"?: number };

export type TurnFields = { "thread": string; "message": string; "inject": boolean; "reason": string; "text": string; "messages": Array<Record<string, string>>; "tokens": number; "cached_tokens": number; "budget": number; "stable_messages": number; "receipt"?: string; "citations"?: Array<string>; "withdrawn"?: Array<Withdrawal>; "support"?: number | null; "compacted"?: boolean; "warnings"?: Array<string> };

export type TurnIn = { "thread": string; "message": string; "budget"?: number | null; "rules"?: string; "recipe"?: string; "min_support"?: number | null };

export type Uncited = { "sentence": string; "source": number };

export type UploadIn = { "file": string; "access"?: Array<string> };

export type Used = { "citation": string; "node": string; "section": string; "why": string; "score": number; "tokens": number; "hash": string; "title"?: string };

export type UserIn = { "groups"?: Array<string> };

export type UserList = { "users": Array<UserOut> };

export type UserOut = { "name": string; "groups": Array<string> };

export type UsesIn = { "references": Array<string> };

export type ValidateIn = { "payload": ContextPayloadModel; "request": ContextRequestIn };

export type Violation = { "kind": string; "message": string };

export type Weights = { "similarity_weight"?: number; "recency_weight"?: number; "confidence_weight"?: number };

export type Withdrawal = { "citation": string; "reason": string };

export type Withdrawn = { "name": string; "citation": string; "reason": string };

export type WithdrawnPiece = { "citation": string; "reason": string };

export type WorkspaceIn = { "name": string; "access"?: Array<string>; "owner"?: string | null };

export type WorkspaceList = { "workspaces": Array<WorkspaceOut> };

export type WorkspaceOut = { "name": string; "user": string; "scope": "read" | "write" | "admin" };

export interface Operations {
  /** Add messages: `POST /v1/workspaces/{workspace}/messages`. */
  addMessages(workspace: string, body: MessagesIn, options?: CallOptions & { query?: {  } }): Promise<AddedOut>;
  /** Add references: `POST /v1/workspaces/{workspace}/references`. */
  addReferences(workspace: string, body: ReferencesIn, options?: CallOptions & { query?: {  } }): Promise<Changed>;
  /** Add a tool result: `POST /v1/workspaces/{workspace}/turns/tool`. */
  addToolResult(workspace: string, body: ToolIn, options?: CallOptions & { query?: {  } }): Promise<ToolResult>;
  /** Ask a question: `POST /v1/workspaces/{workspace}/ask`. */
  askQuestion(workspace: string, body: AskIn, options?: CallOptions & { query?: {  } }): Promise<ResearchOut>;
  /** Answer a research question: `POST /api/research/ask`. */
  askResearchQuestion(body: ResearchRequest, options?: CallOptions & { query?: {  } }): Promise<ResearchOut>;
  /** Build a context: `POST /v1/workspaces/{workspace}/context/build`. */
  buildContext(workspace: string, body: BuildIn, options?: CallOptions & { query?: {  } }): Promise<LeanContext | ContextOut | Context>;
  /** Build what changed: `POST /v1/workspaces/{workspace}/context/delta`. */
  buildDelta(workspace: string, body: DeltaIn, options?: CallOptions & { query?: {  } }): Promise<LeanDelta | DeltaOut | Delta>;
  /** A context of memories: `POST /v1/workspaces/{workspace}/memories-context`. */
  buildMemoryContext(workspace: string, body: MemoryContextQuery, options?: CallOptions & { query?: {  } }): Promise<MemoryContext>;
  /** Context for a message: `POST /context/build`. */
  buildThreadContext(body: PrimeContextRequest, options?: CallOptions & { query?: {  } }): Promise<PrimeContextOut>;
  /** Context for an assistant: `POST /v1/workspaces/{workspace}/context/workspace/build`. */
  buildWorkspaceContext(workspace: string, body: ContextRequestIn, options?: CallOptions & { query?: {  } }): Promise<ContextPayloadModel>;
  /** Cancel a job: `DELETE /v1/workspaces/{workspace}/jobs/{job}`. */
  cancelJob(workspace: string, job: string, options?: CallOptions & { query?: {  } }): Promise<JobOut>;
  /** Change a memory: `PUT /v1/workspaces/{workspace}/memories/{memory}`. */
  changeMemory(workspace: string, memory: string, body: MemoryChange, options?: CallOptions & { query?: {  } }): Promise<MemoryOut>;
  /** Check an answer: `POST /v1/workspaces/{workspace}/answers/check`. */
  checkCitations(workspace: string, body: AnswerIn, options?: CallOptions & { query?: {  } }): Promise<AnswerCheckOut>;
  /** Tell that the process answers: `GET /healthz`. */
  checkHealth(options?: CallOptions & { query?: {  } }): Promise<Health>;
  /** Tell that requests can be answered: `GET /readyz`. */
  checkReadiness(options?: CallOptions & { query?: {  } }): Promise<Health>;
  /** Compact a thread: `POST /v1/workspaces/{workspace}/turns/compact`. */
  compactThread(workspace: string, body: CompactIn, options?: CallOptions & { query?: {  } }): Promise<Compacted>;
  /** Count uses: `POST /v1/workspaces/{workspace}/uses`. */
  countUses(workspace: string, body: UsesIn, options?: CallOptions & { query?: {  } }): Promise<Changed>;
  /** Make a key: `POST /v1/workspaces/{workspace}/keys`. */
  createKey(workspace: string, body: KeyIn, options?: CallOptions & { query?: {  } }): Promise<NewKey>;
  /** Create a workspace: `POST /v1/workspaces`. */
  createWorkspace(body: WorkspaceIn, options?: CallOptions & { query?: {  } }): Promise<WorkspaceOut>;
  /** Delete a workspace: `DELETE /v1/workspaces/{workspace}`. */
  deleteWorkspace(workspace: string, options?: CallOptions & { query?: {  } }): Promise<void>;
  /** Describe a workspace: `GET /v1/workspaces/{workspace}`. */
  describeWorkspace(workspace: string, options?: CallOptions & { query?: {  } }): Promise<Counts>;
  /** Revoke a key: `DELETE /v1/workspaces/{workspace}/keys/{key}`. */
  endKey(workspace: string, key: string, options?: CallOptions & { query?: {  } }): Promise<KeyOut>;
  /** Erase receipts: `POST /v1/workspaces/{workspace}/receipts-erase`. */
  eraseReceipts(workspace: string, body: EraseIn, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Count a context: `POST /v1/workspaces/{workspace}/context/workspace/estimate`. */
  estimateWorkspaceContext(workspace: string, body: EstimateIn, options?: CallOptions & { query?: {  } }): Promise<EstimateOut>;
  /** Explain a context: `POST /v1/workspaces/{workspace}/context/explain`. */
  explainContext(workspace: string, body: ContextIn, options?: CallOptions & { query?: {  } }): Promise<Explanation>;
  /** Find near misses: `POST /v1/workspaces/{workspace}/inspect/near`. */
  findNearMisses(workspace: string, body: NearIn, options?: CallOptions & { query?: {  } }): Promise<NearMissList>;
  /** Find nodes to choose from: `GET /v1/workspaces/{workspace}/inspect/nodes`. */
  findNodes(workspace: string, options?: CallOptions & { query?: { q?: string; type?: string | null } }): Promise<Places>;
  /** Follow a job: `GET /v1/workspaces/{workspace}/jobs/{job}/events`. */
  followJob(workspace: string, job: string, options?: CallOptions & { query?: {  } }): AsyncIterable<ServerEvent>;
  /** Forget memories: `POST /v1/workspaces/{workspace}/memories-forget`. */
  forgetMemories(workspace: string, body: ForgetIn, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Forget a memory: `DELETE /v1/workspaces/{workspace}/memories/{memory}`. */
  forgetMemory(workspace: string, memory: string, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Give feedback: `POST /v1/workspaces/{workspace}/feedback`. */
  giveFeedback(workspace: string, body: FeedbackIn, options?: CallOptions & { query?: {  } }): Promise<Done>;
  /** Feedback on an item: `POST /context/feedback`. */
  giveItemFeedback(body: ContextFeedback, options?: CallOptions & { query?: {  } }): Promise<Done>;
  /** Inspect a context: `POST /v1/workspaces/{workspace}/inspect`. */
  inspectContext(workspace: string, body: InspectIn, options?: CallOptions & { query?: {  } }): Promise<Inspection>;
  /** List activity: `GET /v1/workspaces/{workspace}/activity`. */
  listActivity(workspace: string, options?: CallOptions & { query?: { kind?: "view" | "edit"; limit?: number | null } }): Promise<EventList>;
  /** List changes: `GET /v1/workspaces/{workspace}/audit`. */
  listAudit(workspace: string, options?: CallOptions & { query?: { after?: number; limit?: number | null } }): Promise<AuditList>;
  /** List children: `GET /v1/workspaces/{workspace}/children`. */
  listChildren(workspace: string, options?: CallOptions & { query?: { node?: string; limit?: number | null; last?: boolean } }): Promise<NodeList>;
  /** List documents and notes: `GET /v1/workspaces/{workspace}/documents`. */
  listDocuments(workspace: string, options?: CallOptions & { query?: { limit?: number | null } }): Promise<DocumentList>;
  /** List what can be inspected: `GET /v1/inspect`. */
  listInspectorSettings(options?: CallOptions & { query?: {  } }): Promise<SettingsOut>;
  /** List jobs: `GET /v1/workspaces/{workspace}/jobs`. */
  listJobs(workspace: string, options?: CallOptions & { query?: {  } }): Promise<JobList>;
  /** List keys: `GET /v1/workspaces/{workspace}/keys`. */
  listKeys(workspace: string, options?: CallOptions & { query?: {  } }): Promise<KeyList>;
  /** List lenses: `GET /v1/lenses`. */
  listLenses(options?: CallOptions & { query?: {  } }): Promise<LensList>;
  /** List memories: `GET /v1/workspaces/{workspace}/memories`. */
  listMemories(workspace: string, options?: CallOptions & { query?: { every?: boolean; limit?: number | null } }): Promise<MemoryList>;
  /** The versions of a memory: `GET /v1/workspaces/{workspace}/memories-history`. */
  listMemoryVersions(workspace: string, options?: CallOptions & { query?: { memory?: string } }): Promise<MemoryList>;
  /** List messages: `GET /v1/workspaces/{workspace}/messages`. */
  listMessages(workspace: string, options?: CallOptions & { query?: { thread?: string; limit?: number | null } }): Promise<MessageList>;
  /** List neighbours: `GET /v1/workspaces/{workspace}/neighbours`. */
  listNeighbours(workspace: string, options?: CallOptions & { query?: { node?: string; type?: Array<string>; direction?: "out" | "in" | "both"; limit?: number | null } }): Promise<Neighbours>;
  /** List nodes: `GET /v1/workspaces/{workspace}/nodes`. */
  listNodes(workspace: string, options?: CallOptions & { query?: { type?: Array<string>; tag?: Array<string>; limit?: number | null; sort?: "updated" | "title" } }): Promise<NodeList>;
  /** List packers: `GET /v1/packers`. */
  listPackers(options?: CallOptions & { query?: {  } }): Promise<NamedList>;
  /** List receipts: `GET /v1/workspaces/{workspace}/receipts`. */
  listReceipts(workspace: string, options?: CallOptions & { query?: { thread?: string | null; of?: string | null; limit?: number | null } }): Promise<ReceiptList>;
  /** List recipes: `GET /v1/recipes`. */
  listRecipes(options?: CallOptions & { query?: {  } }): Promise<RecipeList>;
  /** List references: `GET /v1/workspaces/{workspace}/references`. */
  listReferences(workspace: string, options?: CallOptions & { query?: { thread?: string } }): Promise<NodeList>;
  /** List sources: `GET /v1/workspaces/{workspace}/sources`. */
  listSources(workspace: string, options?: CallOptions & { query?: {  } }): Promise<SourceList>;
  /** List templates: `GET /v1/templates`. */
  listTemplates(options?: CallOptions & { query?: {  } }): Promise<NamedList>;
  /** List threads: `GET /v1/workspaces/{workspace}/threads`. */
  listThreads(workspace: string, options?: CallOptions & { query?: { limit?: number | null } }): Promise<ThreadList>;
  /** List users: `GET /v1/workspaces/{workspace}/users`. */
  listUsers(workspace: string, options?: CallOptions & { query?: {  } }): Promise<UserList>;
  /** List workspaces: `GET /v1/workspaces`. */
  listWorkspaces(options?: CallOptions & { query?: {  } }): Promise<WorkspaceList>;
  /** Move a node: `POST /v1/workspaces/{workspace}/move`. */
  moveNode(workspace: string, body: Move, options?: CallOptions & { query?: {  } }): Promise<TextNode>;
  /** Post an answer: `POST /v1/workspaces/{workspace}/turns/reply`. */
  postAnswer(workspace: string, body: ReplyIn, options?: CallOptions & { query?: {  } }): Promise<ReplyOut>;
  /** Preview a context: `POST /v1/workspaces/{workspace}/context/preview`. */
  previewContext(workspace: string, body: ContextIn, options?: CallOptions & { query?: {  } }): Promise<Preview>;
  /** Say who may see a node: `PUT /v1/workspaces/{workspace}/access`. */
  putAccess(workspace: string, body: Access, options?: CallOptions & { query?: {  } }): Promise<TextNode>;
  /** Put a user: `PUT /v1/workspaces/{workspace}/users/{user}`. */
  putUser(workspace: string, user: string, body: UserIn, options?: CallOptions & { query?: {  } }): Promise<UserOut>;
  /** Read a document: `GET /v1/workspaces/{workspace}/read`. */
  readDocument(workspace: string, options?: CallOptions & { query?: { reference?: string; start?: string; tokens?: number | null; ids?: boolean } }): Promise<DocumentText>;
  /** Watch a job: `GET /v1/workspaces/{workspace}/jobs/{job}`. */
  readJob(workspace: string, job: string, options?: CallOptions & { query?: {  } }): Promise<JobOut>;
  /** Read a memory: `GET /v1/workspaces/{workspace}/memories/{memory}`. */
  readMemory(workspace: string, memory: string, options?: CallOptions & { query?: {  } }): Promise<MemoryOut>;
  /** Read Metrics: `GET /metrics`. */
  readMetrics(options?: CallOptions & { query?: {  } }): Promise<string>;
  /** Read a node: `GET /v1/workspaces/{workspace}/nodes/{node}`. */
  readNode(workspace: string, node: string, options?: CallOptions & { query?: {  } }): Promise<TextNode>;
  /** See what is there: `GET /v1/workspaces/{workspace}/inspect/overview`. */
  readOverview(workspace: string, options?: CallOptions & { query?: {  } }): Promise<Overview>;
  /** Show a page: `GET /v1/workspaces/{workspace}/page-image`. */
  readPageImage(workspace: string, options?: CallOptions & { query?: { node?: string } }): Promise<Blob>;
  /** Show a page in small: `GET /v1/workspaces/{workspace}/page-thumbnail`. */
  readPageThumbnail(workspace: string, options?: CallOptions & { query?: { node?: string } }): Promise<Blob>;
  /** Read a source again: `POST /v1/workspaces/{workspace}/sources/{source}/read`. */
  readSource(workspace: string, source: string, options?: CallOptions & { query?: {  } }): Promise<SourceRead>;
  /** Record activity: `POST /v1/workspaces/{workspace}/activity`. */
  recordActivity(workspace: string, body: ActivityIn, options?: CallOptions & { query?: {  } }): Promise<Done>;
  /** Record by beacon: `POST /v1/workspaces/{workspace}/activity/beacon`. */
  recordBeacon(workspace: string, options?: CallOptions & { query?: { key?: string | null } }): Promise<Done>;
  /** Remember: `POST /v1/workspaces/{workspace}/memories`. */
  remember(workspace: string, body: MemoryIn, options?: CallOptions & { query?: {  } }): Promise<MemoryOut>;
  /** Remember a conversation: `POST /v1/workspaces/{workspace}/memories-add`. */
  rememberConversation(workspace: string, body: ConversationIn, options?: CallOptions & { query?: {  } }): Promise<AdditionOut>;
  /** Remove edges: `POST /v1/workspaces/{workspace}/edges-remove`. */
  removeEdges(workspace: string, body: Edges, options?: CallOptions & { query?: {  } }): Promise<Changed>;
  /** Remove a node: `DELETE /v1/workspaces/{workspace}/nodes/{node}`. */
  removeNode(workspace: string, node: string, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Remove nodes: `POST /v1/workspaces/{workspace}/nodes-remove`. */
  removeNodes(workspace: string, body: Removal, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Remove references: `POST /v1/workspaces/{workspace}/references-remove`. */
  removeReferences(workspace: string, body: ReferencesIn, options?: CallOptions & { query?: {  } }): Promise<Changed>;
  /** Remove a source: `DELETE /v1/workspaces/{workspace}/sources/{source}`. */
  removeSource(workspace: string, source: string, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Remove a thread: `DELETE /v1/workspaces/{workspace}/threads/{thread}`. */
  removeThread(workspace: string, thread: string, options?: CallOptions & { query?: {  } }): Promise<Removed>;
  /** Rename a thread: `PUT /v1/workspaces/{workspace}/threads/{thread}`. */
  renameThread(workspace: string, thread: string, body: TitleIn, options?: CallOptions & { query?: {  } }): Promise<TextNode>;
  /** Replay a receipt: `POST /v1/workspaces/{workspace}/receipts/{receipt}/replay`. */
  replayReceipt(workspace: string, receipt: string, options?: CallOptions & { query?: {  } }): Promise<Replay>;
  /** Search memories: `POST /v1/workspaces/{workspace}/memories-search`. */
  searchMemories(workspace: string, body: MemoryQuery, options?: CallOptions & { query?: {  } }): Promise<MemoryResults>;
  /** Search passages: `POST /v1/workspaces/{workspace}/search`. */
  searchPassages(workspace: string, body: SearchIn, options?: CallOptions & { query?: {  } }): Promise<Results>;
  /** Show a receipt: `GET /v1/workspaces/{workspace}/receipts/{receipt}`. */
  showReceipt(workspace: string, receipt: string, options?: CallOptions & { query?: {  } }): Promise<Receipt>;
  /** Start a thread: `POST /v1/workspaces/{workspace}/threads`. */
  startThread(workspace: string, body: ThreadIn, options?: CallOptions & { query?: {  } }): Promise<TextNode>;
  /** Ask, and read as it comes: `POST /v1/workspaces/{workspace}/ask/stream`. */
  streamAnswer(workspace: string, body: AskIn, options?: CallOptions & { query?: {  } }): AsyncIterable<ServerEvent>;
  /** Take a turn: `POST /v1/workspaces/{workspace}/turns`. */
  takeTurn(workspace: string, body: TurnIn, options?: CallOptions & { query?: {  } }): Promise<TurnFields>;
  /** Upload a document: `POST /v1/workspaces/{workspace}/documents`. */
  uploadDocument(workspace: string, body: FormData, options?: CallOptions & { query?: {  } }): Promise<JobOut>;
  /** Check a context: `POST /v1/workspaces/{workspace}/context/workspace/validate`. */
  validateWorkspaceContext(workspace: string, body: ValidateIn, options?: CallOptions & { query?: {  } }): Promise<ContextValidationResultOut>;
  /** Write edges: `POST /v1/workspaces/{workspace}/edges`. */
  writeEdges(workspace: string, body: Edges, options?: CallOptions & { query?: {  } }): Promise<Changed>;
  /** Write nodes and edges: `POST /v1/workspaces/{workspace}/nodes`. */
  writeNodes(workspace: string, body: Addition, options?: CallOptions & { query?: {  } }): Promise<AddedOut>;
}
