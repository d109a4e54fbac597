//! Recognises rekeys and what triggered them.
